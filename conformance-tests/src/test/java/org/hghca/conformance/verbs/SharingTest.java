package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.SharedReceiveQueueConfig;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Share of a shared receive queue that a busy queue pair gets. */
@Needs(Feature.SHARED_RECEIVE_QUEUES)
class SharingTest {
  private static final int REQUESTS = 60;

  private static SharedReceivers three(Fabric fabric) {
    return new SharedReceivers(fabric, new RcSetup().depth(REQUESTS), REQUESTS + 2, 3, 64);
  }

  private static void sendAll(SharedReceivers it) {
    for (int i = 0; i < REQUESTS; i++) {
      it.send(1);
    }
  }

  @Test
  @VerbsCase(
      says = "SRQ of the device: 60 requests, 60 messages for one of three queue pairs, all arrive")
  @Needs(Feature.SHARED_QUEUES_OF_THE_DEVICE)
  void allRequestsOfTheDevicesQueueReachABusyQueuePair() {
    try (SharedReceivers it = three(Fabric.open())) {
      if (SharedReceivers.areDealt(it.fabric.right())) {
        return; // a device of this profile that the driver deals for: the next test
      }
      it.post(0, REQUESTS);
      sendAll(it);
      Set<Long> seen = new HashSet<>();
      it.received(REQUESTS).forEach(wc -> seen.add(wc.wrId()));
      assertThat(seen).hasSize(REQUESTS);
      assertThat(it.sent(REQUESTS)).allSatisfy(Side::assertSuccess);
    }
  }

  /** Requests in a ring that the card may be reading cannot be taken back. */
  @Test
  @VerbsCase(
      says = "SRQ that the driver deals: the same, but each idle queue pair keeps one request")
  void idleQueuePairKeepsOneOfTheDealtRequests() {
    try (SharedReceivers it = three(SharedReceivers.dealing())) {
      if (!SharedReceivers.areDealt(it.fabric.right())) {
        return; // a device under test that shares: the test above
      }
      it.post(0, REQUESTS);
      sendAll(it);
      Set<Long> seen = new HashSet<>();
      it.received(REQUESTS - 2).forEach(wc -> seen.add(wc.wrId()));
      it.fabric.settle();
      assertThat(Wc.drain(it.received)).as("the other messages wait for receives").isEmpty();
      it.post(REQUESTS, REQUESTS + 2);
      it.received(2).forEach(wc -> seen.add(wc.wrId()));
      assertThat(seen).hasSize(REQUESTS);
      assertThat(it.sent(REQUESTS)).allSatisfy(Side::assertSuccess);
      // Requests dealt to idle queue pairs remain available to them.
      it.send(0);
      it.send(2);
      it.received(2).forEach(wc -> seen.add(wc.wrId()));
      assertThat(seen).hasSize(REQUESTS + 2);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", SharedReceivers.DEALT})
  @VerbsCase(says = "SRQ: 16 requests, 16 messages, no thread polls: all arrive")
  void queuePairReceivesAllPostedRequestsWhileNoThreadPolls(String path) {
    try (SharedReceivers it =
        new SharedReceivers(Fabric.threaded(path), new RcSetup().depth(16), 16, 1, 64)) {
      it.post(0, 16);
      for (int i = 0; i < 16; i++) {
        it.send(0);
      }
      assertThat(it.sent(16)).extracting(Wc::status).containsOnly(WcStatus.SUCCESS);
      assertThat(it.received(16)).extracting(Wc::wrId).containsExactlyElementsOf(range(16));
    }
  }

  /**
   * While no thread polls, a queue pair is never without a receive for longer than its peer waits.
   */
  @ParameterizedTest
  @ValueSource(strings = {"", SharedReceivers.DEALT})
  void singleMessagesFindAReceiveWithoutAPoll(String path) {
    try (SharedReceivers it =
        new SharedReceivers(Fabric.threaded(path), new RcSetup().depth(16), 16, 2, 64)) {
      it.post(0, 16);
      for (int i = 0; i < 14; i++) {
        it.send(1);
        assertThat(it.sent(1)).extracting(Wc::status).containsExactly(WcStatus.SUCCESS);
      }
      assertThat(it.received(14)).hasSize(14);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", SharedReceivers.DEALT})
  @VerbsCase(says = "SRQ: 16 requests, 16 datagrams, no thread polls: none is lost")
  void noDatagramIsLostWhileARequestIsPosted(String path) {
    int qkey = 0x1234;
    try (Fabric fabric = Fabric.open(path);
        ProtectionDomain leftPd = fabric.left().allocateProtectionDomain();
        ProtectionDomain pd = fabric.right().allocateProtectionDomain();
        CompletionQueue sent = fabric.left().createCompletionQueue(16);
        CompletionQueue received = fabric.right().createCompletionQueue(32);
        MemoryRegion source = leftPd.allocate(64, AccessFlag.LOCAL_WRITE);
        MemoryRegion sink = pd.allocate(16 * 128, AccessFlag.LOCAL_WRITE);
        SharedReceiveQueue srq = pd.createSharedReceiveQueue(SharedReceiveQueueConfig.of(16, 1));
        QueuePair sender = leftPd.createQueuePair(QueuePairConfig.ud(sent, sent).sendDepth(16));
        QueuePair receiver = receiver(pd, received, srq)) {
      sender.activate(qkey);
      receiver.activate(qkey);
      for (int i = 0; i < 16; i++) {
        srq.postReceive(new ReceiveRequest().wrId(i).into(sink, 128L * i, 128));
      }
      try (AddressHandle to =
          leftPd.createAddressHandle(AddressVector.to(fabric.right().queryGid(1, 0), 0))) {
        SendRequest request = new SendRequest().send().to(to, receiver.number(), qkey);
        for (int i = 0; i < 16; i++) {
          sender.postSend(request.sge(source, 0, 8).signaled());
          request = new SendRequest().send().to(to, receiver.number(), qkey);
        }
        assertThat(Wc.await(fabric, sent, 16)).allSatisfy(Side::assertSuccess);
        assertThat(Wc.await(fabric, received, 16))
            .extracting(Wc::wrId)
            .containsExactlyElementsOf(range(16));
      }
    }
  }

  /** A lost datagram is not retransmitted, and requests of idle queue pairs reach no other. */
  @Test
  void idleDatagramQueuePairsKeepTwoEach() {
    int qkey = 0x1234;
    try (Fabric fabric = SharedReceivers.dealing();
        ProtectionDomain leftPd = fabric.left().allocateProtectionDomain();
        ProtectionDomain pd = fabric.right().allocateProtectionDomain();
        CompletionQueue sent = fabric.left().createCompletionQueue(64);
        CompletionQueue received = fabric.right().createCompletionQueue(64);
        MemoryRegion source = leftPd.allocate(64, AccessFlag.LOCAL_WRITE);
        MemoryRegion sink = pd.allocate(REQUESTS * 128, AccessFlag.LOCAL_WRITE);
        AddressHandle to =
            leftPd.createAddressHandle(AddressVector.to(fabric.right().queryGid(1, 0), 0));
        SharedReceiveQueue srq =
            pd.createSharedReceiveQueue(SharedReceiveQueueConfig.of(REQUESTS, 1));
        QueuePair sender = leftPd.createQueuePair(QueuePairConfig.ud(sent, sent).sendDepth(16));
        QueuePair first = receiver(pd, received, srq);
        QueuePair second = receiver(pd, received, srq);
        QueuePair third = receiver(pd, received, srq)) {
      if (!SharedReceivers.areDealt(fabric.right())) {
        return; // a device under test that shares: its queue pairs keep none
      }
      List.of(sender, first, second, third).forEach(qp -> qp.activate(qkey));
      for (int i = 0; i < REQUESTS; i++) {
        srq.postReceive(new ReceiveRequest().wrId(i).into(sink, 128L * i, 128));
      }
      Set<Long> seen = new HashSet<>();
      for (QueuePair receiver : List.of(first, second, third)) {
        int most = receiver.equals(first) ? REQUESTS - 4 : 2;
        for (int i = 0; i <= most; i++) {
          sender.postSend(
              new SendRequest()
                  .send()
                  .to(to, receiver.number(), qkey)
                  .sge(source, 0, 8)
                  .signaled());
          Side.assertSuccess(Wc.awaitOne(fabric, sent));
          if (i < most) {
            seen.add(Wc.awaitOne(fabric, received).wrId());
          } else {
            fabric.settle();
            assertThat(Wc.drain(received)).as("datagram %d", i).isEmpty();
          }
        }
      }
      assertThat(seen).hasSize(REQUESTS);
    }
  }

  private static QueuePair receiver(
      ProtectionDomain pd, CompletionQueue received, SharedReceiveQueue srq) {
    return pd.createQueuePair(
        QueuePairConfig.ud(received, received).sendDepth(1).sharedReceiveQueue(srq));
  }

  /** A message of many packets of which only the first ones arrive. */
  private static SharedReceivers inTheMiddle() {
    SharedReceivers it =
        new SharedReceivers(
            Fabric.inline("&drop=0.2&seed=3"), new RcSetup().depth(8), 8, 1, 1 << 16);
    it.post(0, 8);
    it.send(0, 1, 0, 1 << 16);
    assertThat(it.fabric.right().counters().receivesPosted()).isEqualTo(8);
    return it;
  }

  @Test
  void onlyTheRequestOfAMessageInFlightIsFlushed() {
    try (SharedReceivers it = inTheMiddle()) {
      it.receivers.getFirst().modify(QpAttributes.to(QpState.ERR));
      if (SharedReceivers.areDealt(it.fabric.right())) {
        it.fabric.settle();
        assertThat(Wc.drain(it.received)).as("flushed requests return").isEmpty();
        assertThat(it.events(1)).containsExactly(AsyncEventType.QP_LAST_WQE_REACHED);
        assertThat(it.tryPost(8)).as("all eight are there").isFalse();
        return;
      }
      List<Wc> flushed = it.received(1);
      assertThat(flushed.getFirst().status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
      assertThat(flushed.getFirst().wrId()).isZero();
      assertThat(it.events(1)).containsExactly(AsyncEventType.QP_LAST_WQE_REACHED);
      assertThat(Wc.drain(it.received)).isEmpty();
      assertThat(it.tryPost(0)).isTrue();
      assertThat(it.tryPost(8)).as("seven others are there").isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void requestOfAMessageInFlightIsNotLostWithItsQueuePair(boolean closes) {
    try (SharedReceivers it = inTheMiddle()) {
      if (closes) {
        it.receivers.getFirst().close();
        it.receivers.set(0, it.receiver());
      } else {
        it.receivers.getFirst().modify(QpAttributes.to(QpState.RESET));
      }
      it.senders.getFirst().modify(QpAttributes.to(QpState.RESET));
      assertThat(Wc.drain(it.received)).isEmpty();
      assertThat(it.events()).isEmpty();
      assertThat(it.tryPost(8)).as("all eight are there").isFalse();
      RcPair.connect(it.setup, it.senders.getFirst(), it.receivers.getFirst());
      Wc.drain(it.sent);
      List<Long> order = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        it.send(0);
        order.add(it.received(1).getFirst().wrId());
        it.sent(1);
      }
      assertThat(order)
          .as("behind all others, or in its old place")
          .containsExactlyElementsOf(
              SharedReceivers.areDealt(it.fabric.right())
                  ? range(8)
                  : List.of(1L, 2L, 3L, 4L, 5L, 6L, 7L, 0L));
    }
  }

  private static List<Long> range(long end) {
    List<Long> numbers = new ArrayList<>();
    for (long i = 0; i < end; i++) {
      numbers.add(i);
    }
    return numbers;
  }
}
