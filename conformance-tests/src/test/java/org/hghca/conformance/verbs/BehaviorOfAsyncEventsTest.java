package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.profile.TestTime;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.PortState;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WrOpcode;
import org.hghca.vfio.testing.Waiters;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Asynchronous events. */
class BehaviorOfAsyncEventsTest {

  private static AsyncEvent next(Context context) throws InterruptedException {
    return context
        .asyncEvents()
        .await(TestTime.seconds(10))
        .orElseThrow(() -> new AssertionError("no event after 10 s"));
  }

  @Tag("loop")
  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mlx5_vfio.Mlx5VfioTrafficTest.test_mlx5vfio_rc_qp_send_imm_traffic",
      says = "two RC queue pairs of one context, SEND_IMM, while a thread waits for events")
  void trafficInOneContextWhileAThreadWaitsForEvents() throws InterruptedException {
    try (Fabric fabric = Fabric.threaded()) {
      WrOpcode opcode =
          TestProfile.pick(Feature.SEND_WITH_IMMEDIATE, WrOpcode.SEND_WITH_IMM, WrOpcode.SEND);
      Context context = fabric.left();
      AtomicInteger others = new AtomicInteger();
      CountDownLatch interrupted = new CountDownLatch(1);
      Thread waiter =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      while (true) {
                        AsyncEvent event = context.asyncEvents().await();
                        event.acknowledge();
                        if (event.type() != AsyncEventType.PORT_ACTIVE) {
                          others.incrementAndGet();
                        }
                      }
                    } catch (InterruptedException e) {
                      interrupted.countDown();
                    }
                  });
      PlayerSetup setup = new PlayerSetup(QpType.RC);
      try (Player client = new Player(fabric, context, setup, 'c');
          Player server = new Player(fabric, context, setup, 's')) {
        client.connect(server);
        server.connect(client);
        Waiters.await(List.of(waiter));
        Players.traffic(client, server, opcode, 100);
      } finally {
        waiter.interrupt();
        waiter.join();
      }
      assertThat(interrupted.getCount()).as("whether it waited to the end").isZero();
      assertThat(others).as("events that are not of a port").hasValue(0);
      TestProfile.require(Feature.SEND_WITH_IMMEDIATE);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mlx5_vfio.Mlx5VfioTrafficTest.test_mlx5vfio_async_event",
      says = "the port comes up: IBV_EVENT_PORT_ACTIVE within 2 s; goes down: IBV_EVENT_PORT_ERR")
  @Needs(Feature.PORT_STATE)
  void portThatComesUpAndGoesDownRaisesEvents() throws InterruptedException {
    try (Context here = RdmaDevices.open(TestProfile.model("model:port-here?cable=port"))) {
      assertThat(here.queryPort(1).state()).isEqualTo(PortState.DOWN);
      Context there = RdmaDevices.open(TestProfile.model("model:port-there?cable=port"));
      try (there) {
        AsyncEvent up = next(here);
        assertThat(up.type()).isEqualTo(AsyncEventType.PORT_ACTIVE);
        assertThat(Events.object(up)).isEqualTo(1);
        up.acknowledge();
        assertThat(here.queryPort(1).state()).isEqualTo(PortState.ACTIVE);
      }
      AsyncEvent down = next(here);
      assertThat(down.type()).isEqualTo(AsyncEventType.PORT_ERR);
      assertThat(Events.object(down)).isEqualTo(1);
      down.acknowledge();
      assertThat(here.queryPort(1).state()).isEqualTo(PortState.DOWN);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "SQD with notification: IBV_EVENT_SQ_DRAINED when all started requests have ended")
  @Needs({Feature.SQD, Feature.CARD_EVENTS})
  void drainedSendQueueRaisesAnEvent() {
    try (RcPair pair = new RcSetup().on(Fabric.inline())) {
      Side left = pair.left;
      // Started, and answered with an RNR NAK: no receive is posted.
      left.qp.postSend(left.send.wrId(1).send().sge(left.buffer, 0, 64).signaled());
      left.qp.modify(QpAttributes.to(QpState.SQD).sqdNotify(true));
      left.assertQuiet();
      assertThat(Events.poll(left.context)).isEmpty();
      pair.right.postReceive(2, 0, 64);
      Side.assertSuccess(left.sent());
      AsyncEvent event = Events.await(left.context);
      assertThat(event.type()).isEqualTo(AsyncEventType.SQ_DRAINED);
      assertThat(Events.object(event)).isSameAs(left.qp);
      event.acknowledge();
      left.assertQuiet();
      assertThat(Events.poll(left.context)).isEmpty();
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "SQD with notification and nothing started: IBV_EVENT_SQ_DRAINED at once")
  @Needs({Feature.SQD, Feature.CARD_EVENTS})
  void idleSendQueueIsDrainedAtOnce() {
    try (RcPair pair = new RcSetup().on(Fabric.inline())) {
      pair.left.qp.modify(QpAttributes.to(QpState.SQD).sqdNotify(true));
      AsyncEvent event = Events.await(pair.left.context);
      assertThat(event.type()).isEqualTo(AsyncEventType.SQ_DRAINED);
      assertThat(Events.object(event)).isSameAs(pair.left.qp);
      event.acknowledge();
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "an object with an event that was taken and not acknowledged: closing it is EBUSY")
  @Needs({Feature.SQD, Feature.CARD_EVENTS})
  void unacknowledgedEventKeepsItsObjectOpen() {
    try (RcPair pair = new RcSetup().on(Fabric.inline())) {
      pair.left.qp.modify(QpAttributes.to(QpState.SQD).sqdNotify(true));
      AsyncEvent event = Events.await(pair.left.context);
      assertThatThrownBy(pair.left.qp::close)
          .isInstanceOf(VerbsException.class)
          .extracting("errno")
          .isEqualTo(Errno.EBUSY);
      event.acknowledge();
      event.acknowledge();
      pair.left.qp.close();
    }
  }
}
