package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.conformance.verbs.Failures.assertBadRequest;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.SharedReceiveQueueConfig;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Shared receive queues as a program sees them: the device's own, and those that the driver
 * emulates by dealing requests to the queue pairs.
 */
@Needs(Feature.SHARED_RECEIVE_QUEUES)
@ParameterizedClass
@ValueSource(strings = {"", SharedReceivers.DEALT})
class SharedReceiveQueueTest {
  /** Empty for the device's own queues, else the parameter that makes the driver deal. */
  @Parameter String path;

  private SharedReceivers inline(int capacity, int count) {
    return new SharedReceivers(Fabric.open(path), new RcSetup(), capacity, count, 64);
  }

  private static List<Long> range(long from, long end) {
    return LongStream.range(from, end).boxed().toList();
  }

  private static void toError(QueuePair qp) {
    qp.modify(QpAttributes.to(QpState.ERR));
  }

  // ---- attributes and limits

  @Test
  void invalidRangeOfAListIsRefused() {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain();
        SharedReceiveQueue shared =
            pd.createSharedReceiveQueue(SharedReceiveQueueConfig.of(8, 1))) {
      ReceiveRequest[] list = {new ReceiveRequest(), new ReceiveRequest()};
      for (int[] part : new int[][] {{0, -1}, {-1, 1}, {0, 3}, {1, Integer.MAX_VALUE}}) {
        assertThatThrownBy(() -> shared.tryPostReceive(list, part[0], part[1]))
            .isInstanceOf(IndexOutOfBoundsException.class);
      }
      assertThat(shared.tryPostReceive(list, 2, 0)).isZero();
    }
  }

  @Test
  void deviceReportsItsLimits() {
    try (Fabric fabric = Fabric.open(path)) {
      var device = fabric.left().queryDevice();
      assertThat(device.maxSrq()).isEqualTo(device.maxQp());
      assertThat(device.maxSrqWr()).isPositive();
      assertThat(device.maxSrqSge()).isPositive();
      try (ProtectionDomain pd = fabric.left().allocateProtectionDomain();
          SharedReceiveQueue largest =
              pd.createSharedReceiveQueue(
                  SharedReceiveQueueConfig.of(device.maxSrqWr(), device.maxSrqSge()))) {
        assertThat(largest.capacity()).isEqualTo(device.maxSrqWr());
        assertThat(largest.maxSge()).isEqualTo(device.maxSrqSge());
        assertThat(largest.limit()).isZero();
        assertThat(largest.protectionDomain()).isSameAs(pd);
        try (var cq = fabric.left().createCompletionQueue(1);
            QueuePair qp =
                pd.createQueuePair(QueuePairConfig.rc(cq, cq).sharedReceiveQueue(largest))) {
          assertThat(qp.sharedReceiveQueue()).contains(largest);
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0, 1, 0",
    "-1, 1, 0",
    "4, -1, 0",
    "4, 1, 5",
    "4, 1, -1",
    "1000000, 1, 0",
    "4, 99, 0"
  })
  void capacityBeyondTheDeviceLimitIsRefused(int capacity, int maxSge, int limit) {
    try (Fabric fabric = Fabric.open(path);
        ProtectionDomain pd = fabric.left().allocateProtectionDomain()) {
      assertErrno(
          Errno.EINVAL,
          () -> pd.createSharedReceiveQueue(new SharedReceiveQueueConfig(capacity, maxSge, limit)));
    }
  }

  @Test
  void fullQueueTakesNoMore() {
    try (SharedReceivers it = inline(4, 1)) {
      it.post(0, 4);
      assertThat(it.tryPost(4)).isFalse();
      assertBadRequest(Errno.ENOMEM, 0, () -> it.srq.postReceive(new ReceiveRequest()));
      ReceiveRequest[] two = {new ReceiveRequest(), new ReceiveRequest()};
      assertThat(it.srq.tryPostReceive(two, 0, 2)).isZero();
      // A request counts until its completion is polled.
      it.send(0);
      it.sent(1);
      assertThat(it.tryPost(4)).isFalse();
      it.received(1);
      assertThat(it.srq.tryPostReceive(two, 0, 2)).isEqualTo(1);
      assertBadRequest(Errno.ENOMEM, 0, () -> it.srq.postReceive(two));
    }
  }

  @Test
  void tooManyElementsAreRefusedAndThoseBeforeAreTaken() {
    try (SharedReceivers it = inline(4, 1)) {
      ReceiveRequest good = new ReceiveRequest().wrId(1).into(it.sink, 0, 8);
      ReceiveRequest bad = new ReceiveRequest().into(it.sink, 0, 8).sge(it.sink, 8, 8);
      assertBadRequest(Errno.EINVAL, 0, () -> it.srq.tryPostReceive(bad));
      assertBadRequest(Errno.EINVAL, 1, () -> it.srq.postReceive(new ReceiveRequest[] {good, bad}));
      it.send(0);
      assertThat(it.received(1).getFirst().wrId()).isEqualTo(1);
    }
  }

  @Test
  void queuePairItselfTakesNoReceives() {
    try (SharedReceivers it = inline(4, 1)) {
      QueuePair qp = it.receivers.getFirst();
      assertThat(qp.sharedReceiveQueue()).contains(it.srq);
      assertThat(it.senders.getFirst().sharedReceiveQueue()).isEmpty();
      assertThat(qp.capabilities().receiveDepth()).isZero();
      assertBadRequest(Errno.EINVAL, 0, () -> qp.tryPostReceive(new ReceiveRequest()));
      toError(qp);
      assertBadRequest(Errno.EINVAL, 0, () -> qp.tryPostReceive(new ReceiveRequest()));
    }
  }

  @Test
  void queueOfAnotherProtectionDomainIsRefused() {
    try (SharedReceivers it = inline(4, 1);
        ProtectionDomain another = it.fabric.right().allocateProtectionDomain()) {
      assertErrno(
          Errno.EINVAL,
          () ->
              another.createQueuePair(
                  QueuePairConfig.rc(it.received, it.received).sharedReceiveQueue(it.srq)));
    }
  }

  @Test
  @VerbsCase(
      says = "SRQ: beyond its capacity ENOMEM, a limit beyond it EINVAL, closing it in use EBUSY")
  void queueInUseIsNotClosed() {
    try (SharedReceivers it = inline(4, 2)) {
      it.post(0, 4);
      assertBadRequest(Errno.ENOMEM, 0, () -> it.srq.postReceive(new ReceiveRequest()));
      assertErrno(Errno.EINVAL, () -> it.srq.limit(5));
      assertErrno(Errno.EBUSY, it.srq::close);
      assertErrno(Errno.EBUSY, it.pd::close);
      it.receivers.get(0).close();
      assertErrno(Errno.EBUSY, it.srq::close);
      it.receivers.get(1).close();
      it.srq.close();
      it.srq.close();
      assertBadRequest(Errno.EINVAL, 0, () -> it.srq.tryPostReceive(new ReceiveRequest()));
      assertErrno(Errno.EINVAL, () -> it.srq.limit(1));
      assertErrno(Errno.EINVAL, () -> it.srq.resize(8));
      assertErrno(
          Errno.EINVAL,
          () ->
              it.pd.createQueuePair(
                  QueuePairConfig.rc(it.other, it.other).sharedReceiveQueue(it.srq)));
    }
  }

  @Test
  void completionQueuesReserveRoomForAllRequestsOnce() {
    try (Fabric fabric = Fabric.open(path);
        ProtectionDomain pd = fabric.left().allocateProtectionDomain();
        SharedReceiveQueue srq = pd.createSharedReceiveQueue(SharedReceiveQueueConfig.of(12, 1));
        var sends = fabric.left().createCompletionQueue(8);
        var cq =
            fabric.left().createCompletionQueue(CompletionQueueConfig.of(16).withRingEntries(16))) {
      QueuePairConfig shared = QueuePairConfig.rc(sends, cq).sharedReceiveQueue(srq);
      try (QueuePair one = pd.createQueuePair(shared);
          QueuePair two = pd.createQueuePair(shared)) {
        assertThat(one.number()).isNotEqualTo(two.number());
        assertErrno(
            Errno.ENOMEM, () -> pd.createQueuePair(QueuePairConfig.rc(sends, cq).receiveDepth(5)));
        pd.createQueuePair(QueuePairConfig.rc(sends, cq).receiveDepth(4)).close();
        assertErrno(Errno.ENOMEM, () -> srq.resize(17));
        assertThat(srq.capacity()).isEqualTo(12);
        srq.resize(16);
        assertErrno(
            Errno.ENOMEM, () -> pd.createQueuePair(QueuePairConfig.rc(sends, cq).receiveDepth(1)));
        srq.resize(12);
      }
      pd.createQueuePair(QueuePairConfig.rc(sends, cq).receiveDepth(16)).close();
    }
  }

  // ---- the limit and the capacity

  /** The driver detects it by itself, so that it works without event queues as well. */
  @ParameterizedTest
  @ValueSource(strings = {"&events=eq", "&interrupts=none", "&events=poll"})
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_srq.SrqTestCase.test_modify_srq_limit",
      says =
          "limit 7 on 10 requests is queried as 7; after 4 receives one"
              + " IBV_EVENT_SRQ_LIMIT_REACHED, and the limit is 0")
  void limitIsReachedOnce(String parameters) throws Exception {
    try (SharedReceivers it =
        new SharedReceivers(Fabric.inline(path + parameters), new RcSetup(), 16, 1, 64)) {
      it.post(0, 10);
      it.srq.limit(7);
      assertThat(it.srq.limit()).isEqualTo(7);
      for (int i = 0; i < 3; i++) {
        it.send(0);
        it.received(1);
      }
      assertThat(it.srq.limit()).isEqualTo(7);
      assertThat(it.events()).isEmpty();
      it.send(0);
      it.received(1);
      AsyncEvent event =
          it.fabric.right().asyncEvents().await(Duration.ofSeconds(20)).orElseThrow();
      assertThat(event.type()).isEqualTo(AsyncEventType.SRQ_LIMIT_REACHED);
      assertThat(Events.object(event)).isSameAs(it.srq);
      event.acknowledge();
      assertThat(it.srq.limit()).isZero();
      it.send(0);
      it.received(1);
      assertThat(it.events()).isEmpty();
      assertThat(it.sent(5)).allSatisfy(Side::assertSuccess);
    }
  }

  @Test
  void limitFromTheBeginningCountsFromTheFirstCompletion() {
    try (SharedReceivers it = inline(16, 0);
        SharedReceiveQueue limited =
            it.pd.createSharedReceiveQueue(SharedReceiveQueueConfig.of(4, 1).withLimit(2));
        QueuePair receiver =
            it.pd.createQueuePair(
                QueuePairConfig.rc(it.other, it.received).sharedReceiveQueue(limited));
        QueuePair sender = it.leftPd.createQueuePair(QueuePairConfig.rc(it.sent, it.sent))) {
      RcPair.connect(it.setup, sender, receiver);
      assertThat(limited.limit()).isEqualTo(2);
      for (int i = 0; i < 3; i++) {
        limited.postReceive(new ReceiveRequest().wrId(i).into(it.sink, 64L * i, 64));
      }
      for (int i = 0; i < 2; i++) {
        assertThat(it.events()).as("event before message %d", i).isEmpty();
        assertThat(limited.limit()).isEqualTo(2);
        sender.postSend(new SendRequest().send().sge(it.source, 0, 8).signaled());
        Side.assertSuccess(it.sent(1).getFirst());
        assertThat(it.received(1).getFirst().wrId()).isEqualTo(i);
      }
      assertThat(it.events(1)).containsExactly(AsyncEventType.SRQ_LIMIT_REACHED);
      assertThat(limited.limit()).isZero();
    }
  }

  @Test
  void limitBelowTheCurrentFillIsReachedAtOnce() {
    try (SharedReceivers it = inline(16, 1)) {
      it.post(0, 4);
      it.srq.limit(4);
      assertThat(it.events()).isEmpty();
      it.srq.limit(5);
      assertThat(it.events(1)).containsExactly(AsyncEventType.SRQ_LIMIT_REACHED);
      assertThat(it.srq.limit()).isZero();
      assertErrno(Errno.EINVAL, () -> it.srq.limit(17));
      assertErrno(Errno.EINVAL, () -> it.srq.limit(-1));
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_srq.SrqTestCase.test_resize_srq",
      says = "twice the capacity requested, at least that reported, and it takes as many")
  void resizingKeepsOutstandingRequests() {
    try (SharedReceivers it = inline(16, 2)) {
      it.srq.resize(4);
      assertThat(it.srq.capacity()).isEqualTo(4);
      it.post(0, 4);
      assertThat(it.tryPost(4)).isFalse();
      assertErrno(Errno.EINVAL, () -> it.srq.resize(3));
      assertErrno(Errno.EINVAL, () -> it.srq.resize(0));
      assertErrno(Errno.EINVAL, () -> it.srq.resize(1_000_000));
      it.srq.resize(40);
      it.post(4, 16);
      for (int i = 16; i < 40; i++) {
        it.srq.postReceive(new ReceiveRequest().wrId(i).into(it.sink, 0, 64));
      }
      assertThat(it.tryPost(0)).isFalse();
      it.srq.limit(30);
      assertErrno(Errno.EINVAL, () -> it.srq.resize(29));
      it.srq.limit(0);
      for (int i = 0; i < 18; i++) {
        it.send(0);
        it.send(1);
        it.received(2);
        it.sent(2);
      }
      it.srq.resize(4);
      assertThat(it.srq.capacity()).isEqualTo(4);
    }
  }

  // ---- traffic

  @Test
  void sendAndWriteWithImmediateConsumeSharedRequests() {
    try (SharedReceivers it = inline(8, 1)) {
      it.post(3, 5);
      it.send(0);
      Wc first = it.received(1).getFirst();
      assertThat(first.wrId()).isEqualTo(3);
      assertThat(first.opcode()).isEqualTo(WcOpcode.RECV);
      assertThat(first.bytes()).isEqualTo(8);
      assertThat(first.qpNumber()).isEqualTo(it.receivers.getFirst().number());
      it.senders
          .getFirst()
          .postSend(
              new SendRequest()
                  .rdmaWriteWithImmediate(it.sink.address(), it.sink.rkey(), 77)
                  .sge(it.source, 0, 8));
      Wc second = it.received(1).getFirst();
      assertThat(second.wrId()).isEqualTo(4);
      assertThat(second.opcode()).isEqualTo(WcOpcode.RECV_RDMA_WITH_IMM);
      assertThat(second.immediate()).isEqualTo(77);
    }
  }

  @Test
  void queuePairConsumesItsRequestsInPostingOrder() {
    try (SharedReceivers it = inline(64, 1)) {
      it.post(0, 64);
      for (int i = 0; i < 64; i++) {
        it.send(0);
        assertThat(it.received(1).getFirst().wrId()).isEqualTo(i);
        it.sent(1);
      }
      assertThat(it.events()).isEmpty();
    }
  }

  @Test
  void emptyQueueMakesTheSenderWaitUntilAPost() {
    try (SharedReceivers it = inline(8, 2)) {
      it.send(1);
      it.fabric.advance(Duration.ofSeconds(2));
      assertThat(Wc.drain(it.sent)).isEmpty();
      it.post(0, 2);
      Side.assertSuccess(it.sent(1).getFirst());
      assertThat(it.received(1).getFirst().qpNumber()).isEqualTo(it.receivers.get(1).number());
    }
  }

  @Test
  void everyReceivingQueuePairGetsARequest() {
    try (SharedReceivers it = inline(8, 4)) {
      it.post(0, 4);
      for (int i = 0; i < 4; i++) {
        it.send(i);
      }
      assertThat(it.received(4).stream().map(Wc::qpNumber))
          .containsExactlyInAnyOrderElementsOf(
              it.receivers.stream().map(QueuePair::number).toList());
    }
  }

  @Test
  void lateQueuePairsFindRequestsLeftAfterDealing() {
    try (SharedReceivers it = inline(16, 1)) {
      it.post(0, 16);
      for (int i = 1; i < 8; i++) {
        it.senders.add(
            it.leftPd.createQueuePair(it.setup.apply(QueuePairConfig.rc(it.sent, it.sent))));
        it.receivers.add(it.receiver());
        RcPair.connect(it.setup, it.senders.get(i), it.receivers.get(i));
        it.send(i);
        Wc wc = it.received(1).getFirst();
        assertThat(wc.qpNumber()).isEqualTo(number(it, i));
        assertThat(it.tryPost(wc.wrId())).isTrue();
      }
    }
  }

  @Test
  void busyQueuePairAmongIdleOnesReceivesEverything() {
    SplittableRandom random = new SplittableRandom(5);
    try (SharedReceivers it = inline(16, 4)) {
      it.post(0, 16);
      int taken = 0;
      int sent = 0;
      int posted = 0;
      while (taken < 500) {
        while (posted < 500 && posted - Math.min(taken, sent) < 16) {
          it.send(2, posted++, 8L * random.nextInt(8), 8);
        }
        it.fabric.advance(Duration.ofNanos(100_000));
        for (Wc wc : Wc.drain(it.sent)) {
          Side.assertSuccess(wc);
          sent++;
        }
        for (Wc wc : Wc.drain(it.received)) {
          Side.assertSuccess(wc);
          assertThat(wc.qpNumber()).isEqualTo(it.receivers.get(2).number());
          assertThat(it.tryPost(wc.wrId())).isTrue();
          taken++;
        }
      }
      Wc.drain(it.sent);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_srq.SrqTestCase.test_rc_srq_traffic",
      says = "RC traffic of four queue pairs through one SRQ")
  void fourQueuePairsShareSixtyFourRequestsForHundredLongMessages() {
    int length = 100_000;
    int window = 64;
    RcSetup setup = new RcSetup().depth(window);
    SplittableRandom random = new SplittableRandom(64);
    try (SharedReceivers it = new SharedReceivers(Fabric.open(path), setup, window, 4, length)) {
      it.post(0, window);
      for (long i = 0; i < it.source.length(); i += 8) {
        it.source.segment().set(ValueLayout.JAVA_LONG, i, random.nextLong());
      }
      int sent = 0;
      int done = 0;
      int[] next = new int[4];
      while (done < 100) {
        int end = Math.min(100, sent + window);
        for (; sent < end; sent++) {
          it.send(sent % 4, sent, (long) (sent % window) * length, length);
        }
        while (done < end) {
          for (Wc wc : it.someReceived()) {
            Side.assertSuccess(wc);
            assertThat(wc.bytes()).isEqualTo(length);
            int qp =
                IntStream.range(0, 4)
                    .filter(i -> number(it, i) == wc.qpNumber())
                    .findAny()
                    .orElseThrow();
            // A connection delivers in order: its n-th message is the (4 n + i)-th of all.
            int message = 4 * next[qp]++ + qp;
            assertThat(
                    it.sink
                        .segment()
                        .asSlice(wc.wrId() * length, length)
                        .mismatch(
                            it.source
                                .segment()
                                .asSlice((long) (message % window) * length, length)))
                .as("message %d in request %d", message, wc.wrId())
                .isEqualTo(-1);
            assertThat(it.tryPost(wc.wrId())).isTrue();
            done++;
          }
        }
        // Their buffers are reusable once the senders have their completions.
        it.sent(end - (end - 1) / window * window);
      }
      assertThat(done).isEqualTo(100);
    }
  }

  @Test
  void queuesThatShareACompletionQueueDoNotShareRequests() {
    try (SharedReceivers it = inline(8, 2);
        SharedReceiveQueue second =
            it.pd.createSharedReceiveQueue(SharedReceiveQueueConfig.of(4, 1));
        QueuePair receiver =
            it.pd.createQueuePair(
                QueuePairConfig.rc(it.other, it.received).sharedReceiveQueue(second));
        QueuePair sender =
            it.leftPd.createQueuePair(it.setup.apply(QueuePairConfig.rc(it.sent, it.sent)))) {
      RcPair.connect(it.setup, sender, receiver);
      ReceiveRequest request = new ReceiveRequest().into(it.sink, 0, 8);
      it.post(0, 8);
      for (int i = 100; i < 104; i++) {
        assertThat(second.tryPostReceive(request.wrId(i))).isTrue();
      }
      for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 4; i++) {
          it.send(0);
          sender.postSend(new SendRequest().send().sge(it.source, 0, 8).signaled());
          it.send(1);
        }
        for (int seen = 0; seen < 12; ) {
          for (Wc wc : it.someReceived()) {
            Side.assertSuccess(wc);
            boolean ofSecond = wc.qpNumber() == receiver.number();
            assertThat(ofSecond).isEqualTo(wc.wrId() >= 100);
            // Both are full again: a request dealt to the other's queue pairs would not fit.
            boolean posted =
                ofSecond ? second.tryPostReceive(request.wrId(wc.wrId())) : it.tryPost(wc.wrId());
            assertThat(posted).isTrue();
            seen++;
          }
        }
        assertThat(it.tryPost(8)).isFalse();
        assertThat(second.tryPostReceive(request.wrId(104))).isFalse();
        it.sent(12);
      }
    }
  }

  @Test
  void queuePairsOfOneSrqMayHaveDifferentCompletionQueues() {
    try (SharedReceivers it = inline(8, 1);
        var mine = it.fabric.right().createCompletionQueue(8);
        QueuePair receiver =
            it.pd.createQueuePair(
                QueuePairConfig.rc(it.received, mine).sharedReceiveQueue(it.srq));
        QueuePair sender =
            it.leftPd.createQueuePair(it.setup.apply(QueuePairConfig.rc(it.sent, it.sent)))) {
      RcPair.connect(it.setup, sender, receiver);
      for (int round = 0; round < 20; round++) {
        it.post(0, 4);
        Set<Long> seen = new HashSet<>();
        for (int i = 0; i < 2; i++) {
          it.send(0);
          sender.postSend(new SendRequest().send().sge(it.source, 0, 8).signaled());
          seen.add(Wc.awaitOne(it.fabric, mine).wrId());
          seen.add(it.received(1).getFirst().wrId());
        }
        assertThat(seen).containsExactlyInAnyOrderElementsOf(range(0, 4));
        it.sent(4);
      }
      // Its sends fail into the completion queue of the other's receives.
      it.post(0, 8);
      receiver.postSend(new SendRequest().rdmaWrite(0, 0xdead).sge(it.sink, 0, 8));
      assertThat(it.someReceived()).extracting(Wc::status).containsExactly(WcStatus.REM_ACCESS_ERR);
      it.fabric.settle();
      assertThat(Wc.drain(mine)).isEmpty();
      assertThat(it.events(1)).containsExactly(AsyncEventType.QP_LAST_WQE_REACHED);
      for (int i = 0; i < 8; i++) {
        it.send(0);
        it.received(1);
        it.sent(1);
      }
    }
  }

  private static int number(SharedReceivers it, int receiver) {
    return it.receivers.get(receiver).number();
  }
}
