package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/** Shared receive queues, as in rdma-core's tests. */
@Needs(Feature.SHARED_RECEIVE_QUEUES)
class BehaviorOfSharedReceiveQueuesTest {

  private static PlayerSetup shared() {
    return new PlayerSetup(QpType.RC).queuePairs(2).shared();
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_srq.SrqTestCase.test_rc_srq_traffic",
      says = "RC traffic of two queue pairs through one SRQ")
  void trafficThroughASharedQueue() {
    try (Players players = shared().open()) {
      players.traffic(WrOpcode.SEND, 100);
      players.traffic(WrOpcode.SEND_WITH_IMM, 10);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_srq.SrqTestCase.test_modify_srq_limit",
      says =
          "limit 7 on 10 requests is queried as 7; after 4 receives one"
              + " IBV_EVENT_SRQ_LIMIT_REACHED, and the limit is 0")
  void limitRaisesOneEvent() {
    try (Players players = shared().depth(10).open()) {
      Player client = players.client;
      Player server = players.server;
      SharedReceiveQueue queue = server.shared.orElseThrow();
      for (int i = 0; i < 10; i++) {
        server.postReceive();
      }
      queue.limit(7);
      assertThat(queue.limit()).isEqualTo(7);
      for (int i = 0; i < 4; i++) {
        assertThat(Events.poll(server.context)).as("after %d receives", i).isEmpty();
        client.qp().postSend(Players.request(WrOpcode.SEND, client, server, 0));
        client.poll();
        server.poll();
      }
      AsyncEvent event = Events.await(server.context);
      assertThat(event.type()).isEqualTo(AsyncEventType.SRQ_LIMIT_REACHED);
      assertThat(Events.object(event)).isSameAs(queue);
      event.acknowledge();
      assertThat(queue.limit()).isZero();
      client.qp().postSend(Players.request(WrOpcode.SEND, client, server, 0));
      client.poll();
      server.poll();
      players.fabric.settle();
      assertThat(Events.poll(server.context)).isEmpty();
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_srq.SrqTestCase.test_resize_srq",
      says = "twice the capacity requested, at least that reported, and it takes as many")
  void sharedQueueIsResized() {
    try (Players players = shared().depth(10).open()) {
      SharedReceiveQueue queue = players.server.shared.orElseThrow();
      int twice = 2 * queue.capacity();
      queue.resize(twice);
      assertThat(queue.capacity()).isGreaterThanOrEqualTo(twice);
      for (int i = 0; i < twice; i++) {
        players.server.postReceive();
      }
      assertThatThrownBy(() -> queue.resize(twice - 1))
          .isInstanceOf(VerbsException.class)
          .extracting("errno")
          .isEqualTo(Errno.EINVAL);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "SRQ: beyond its capacity ENOMEM, a limit beyond it EINVAL, closing it in use EBUSY")
  void invalidOperationsOfASharedQueueAreRefused() {
    try (Players players = shared().depth(10).open()) {
      Player server = players.server;
      SharedReceiveQueue queue = server.shared.orElseThrow();
      for (int i = 0; i < queue.capacity(); i++) {
        server.postReceive();
      }
      assertThatThrownBy(server::postReceive)
          .isInstanceOf(BadRequestException.class)
          .extracting("errno")
          .isEqualTo(Errno.ENOMEM);
      assertThatThrownBy(() -> queue.limit(queue.capacity() + 1))
          .isInstanceOf(VerbsException.class)
          .extracting("errno")
          .isEqualTo(Errno.EINVAL);
      assertThatThrownBy(queue::close)
          .isInstanceOf(VerbsException.class)
          .extracting("errno")
          .isEqualTo(Errno.EBUSY);
    }
  }
}
