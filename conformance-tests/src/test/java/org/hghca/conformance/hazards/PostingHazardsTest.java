package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.conformance.hazards.LoopedCard.PAGE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests that would stop a card of the first RTL do not reach it; all others do. */
class PostingHazardsTest {
  /** Limit for anything that the driver does by itself. */
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final LoopedCard it = new LoopedCard();

  @AfterEach
  void close() {
    it.close();
  }

  @Test
  @Tag("hazard-12.1")
  void emptyMessagesAreRefused() {
    SendRequest request = new SendRequest();
    long a = it.target.address();
    int key = it.target.rkey();
    it.assertRefused(request.send(), Errno.EOPNOTSUPP);
    it.assertRefused(request.send().sge(it.source, 0, 0), Errno.EOPNOTSUPP);
    it.assertRefused(request.send().inline(MemorySegment.ofArray(new byte[0])), Errno.EOPNOTSUPP);
    it.assertRefused(request.rdmaWrite(a, key), Errno.EOPNOTSUPP);
    it.assertRefused(request.rdmaWrite(a, key).sge(it.source, 0, 0), Errno.EOPNOTSUPP);
    it.assertRefused(request.rdmaWriteWithImmediate(a, key, 1), Errno.EOPNOTSUPP);
    it.assertRefused(request.rdmaRead(a, key).sge(it.target, 0, 0), Errno.EOPNOTSUPP);
  }

  @Test
  @Tag("hazard-12.1")
  void emptyElementsAreOmitted() {
    it.b.postReceive(it.into(0, 64).sge(it.target, 5, 0).sge(it.target, 64, 64));
    it.a.postSend(
        new SendRequest()
            .send()
            .sge(it.source, 9, 0)
            .sge(it.source, 0, 60)
            .sge(it.source, 9, 0)
            .sge(it.source, 60, 30));
    it.await(2);
    it.assertArrived(0, 90);
    it.assertAlive();
  }

  @ParameterizedTest(name = "{1} bytes at {0}")
  @CsvSource({"4095, 20", "4065, 32", "4095, 32", "8190, 5", "1, 8192"})
  @Tag("hazard-12.2")
  void transfersThatEndJustBehindAPageAreRefused(long offset, long bytes) {
    it.assertRefused(it.write(offset, bytes), Errno.EINVAL);
    it.assertRefused(it.read(offset, bytes), Errno.EINVAL);
  }

  @ParameterizedTest(name = "{1} bytes at {0}")
  @CsvSource({"4095, 33", "4064, 33", "4095, 1", "4090, 6", "33, 8192", "4096, 8192", "32, 9999"})
  @Tag("hazard-12.2")
  void otherTransfersArriveComplete(long offset, long bytes) {
    it.a.postSend(it.write(offset, bytes));
    it.await(1);
    it.assertArrived(offset, bytes);
    it.target.segment().fill((byte) 0);
    it.a.postSend(it.read(offset, bytes));
    it.await(1);
    it.assertArrived(offset, bytes);
    it.assertAlive();
  }

  @Test
  @Tag("hazard-12.2")
  void receivesThatAMessageMayOverrunAreRefused() {
    it.assertRefused(it.into(PAGE - 1, 200), Errno.EINVAL);
    it.assertRefused(it.into(0, 10).sge(it.target, PAGE - 64, 128), Errno.EINVAL);
    it.b.postReceive(it.into(PAGE - 64, 128));
    it.a.postSend(it.send(65));
    it.await(2);
    it.assertArrived(PAGE - 64, 65);
    it.b.postReceive(it.into(PAGE - 7, 7));
    it.a.postSend(it.send(7));
    it.await(2);
    it.assertArrived(PAGE - 7, 7);
  }

  @Test
  @Tag("hazard-12.3")
  void localMemoryIsCheckedToTheByte() {
    try (ProtectionDomain pd = it.card.context.allocateProtectionDomain();
        MemoryRegion foreign = pd.allocate(PAGE, AccessFlag.LOCAL_WRITE);
        MemoryRegion readable = it.pd.allocate(PAGE)) {
      long end = it.source.address() + it.source.length();
      SendRequest request = new SendRequest();
      it.assertRefused(request.send().sge(it.source.address(), 8, 0x77), Errno.EINVAL);
      it.assertRefused(request.send().sge(foreign), Errno.EINVAL);
      it.assertRefused(request.send().sge(end - 8, 9, it.source.lkey()), Errno.EINVAL);
      it.assertRefused(
          request.send().sge(it.source, 0, 8).sge(end, 1, it.source.lkey()), Errno.EINVAL);
      it.assertRefused(
          request.rdmaRead(it.source.address(), it.source.rkey()).sge(readable), Errno.EINVAL);
      it.assertRefused(new ReceiveRequest().into(readable), Errno.EINVAL);
      it.assertRefused(new ReceiveRequest().into(foreign), Errno.EINVAL);
    }
  }

  @Test
  @Tag("hazard-12.3")
  void memoryIsNotDeregisteredWhileARequestUsesIt() {
    MemoryRegion memory = it.pd.allocate(PAGE, AccessFlag.LOCAL_WRITE);
    it.card.hca.holdDoorbells(true);
    it.a.postSend(it.write(0, 8).sge(memory, 0, 8));
    assertThatThrownBy(memory::close)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
    it.card.hca.holdDoorbells(false);
    it.await(1);
    memory.close();
    it.assertAlive();
  }

  @Test
  @Tag("hazard-12.6")
  void readThatItsTargetWouldRefuseIsNotPosted() {
    try (MemoryRegion closed = it.pd.allocate(PAGE, AccessFlag.LOCAL_WRITE)) {
      SendRequest request = new SendRequest();
      long end = it.source.address() + it.source.length();
      it.assertRefused(
          request.rdmaRead(it.source.address(), 0x77).sge(it.target, 0, 8), Errno.EINVAL);
      it.assertRefused(
          request.rdmaRead(closed.address(), closed.rkey()).sge(it.target, 0, 8), Errno.EINVAL);
      it.assertRefused(
          request.rdmaRead(end - 7, it.source.rkey()).sge(it.target, 0, 8), Errno.EINVAL);
      it.a.postSend(request.rdmaRead(end - 8, it.source.rkey()).sge(it.target, 0, 8));
      it.await(1);
    }
  }

  @Test
  @Tag("hazard-12.7")
  void opcodesUnknownToTheCardAreRefused() {
    SendRequest request = new SendRequest();
    long a = it.target.address();
    int key = it.target.rkey();
    it.assertRefused(request.fetchAndAdd(a, key, 1).sge(it.source, 0, 8), Errno.EOPNOTSUPP);
    it.assertRefused(request.compareAndSwap(a, key, 1, 2).sge(it.source, 0, 8), Errno.EOPNOTSUPP);
    it.assertRefused(request.sendWithImmediate(1).sge(it.source, 0, 8), Errno.EOPNOTSUPP);
  }

  @Test
  @Tag("hazard-12.7")
  void noElementCrossesTheEndOfTheRing() {
    for (int i = 0; i < 150; i++) {
      it.a.postSend(it.write(64L * i, 20).sge(it.source, 20, 10).sge(it.source, 30, 10));
      it.await(1);
      it.assertArrived(64L * i, 40);
    }
  }

  @Test
  @Tag("hazard-12.8")
  void receivesAreUsedInOrderAcrossRingWraps() {
    for (int i = 0; i < 100; i++) {
      long offset = 128L * (i % 50);
      it.b.postReceive(it.into(offset, 64).sge(it.target, offset + 64, 64));
      it.b.postReceive(it.into(offset + 8192, 128));
      it.a.postSend(it.send(100));
      it.a.postSend(it.send(30));
      it.await(4);
      it.assertArrived(offset, 100);
      it.assertArrived(offset + 8192, 30);
      it.target.segment().fill((byte) 0);
    }
  }

  /** A card that keeps the links of receives would write to memory of another time. */
  @Test
  @Tag("hazard-12.8")
  void receivesDiscardedByAResetAreNotWritten() {
    for (int life = 0; life < 3; life++) {
      long first = 4L * life * PAGE;
      for (int i = 0; i < 3; i++) {
        it.b.postReceive(it.into(first + (long) i * PAGE, 64));
      }
      it.a.postSend(it.send(64));
      it.await(2);
      it.assertArrived(first, 64);
      assertUntouched(first);
      it.a.modify(QpAttributes.to(QpState.RESET));
      it.b.modify(QpAttributes.to(QpState.RESET));
      it.target.segment().fill((byte) 0);
      LoopedCard.connect(it.a, it.b);
    }
  }

  /** A slot that still looks posted would place another message in memory that was freed. */
  @Test
  @Tag("hazard-12.5")
  void consumedSlotReceivesNothing() {
    for (int i = 0; i < 16; i++) { // all slots of the ring
      it.b.postReceive(it.into(0, 64));
      it.a.postSend(it.send(64));
      it.await(2);
    }
    it.target.segment().fill((byte) 0);
    it.expectHarm("12.5"); // the peer sends though no receive is posted
    it.a.postSend(it.send(64));
    it.settle();
    assertUntouched(64);
  }

  /** The first bytes of the target are zero. */
  private void assertUntouched(long bytes) {
    MemorySegment zeros = MemorySegment.ofArray(new byte[(int) bytes]);
    assertThat(it.target.segment().asSlice(0, bytes).mismatch(zeros))
        .as("first byte that was written")
        .isEqualTo(-1);
  }

  @Test
  @Tag("hazard-1.4")
  void noDoorbellIsLostForAnyNumberOfQueuePairs() {
    List<QueuePair> senders = new ArrayList<>();
    for (int i = 0; i < 80; i++) {
      QueuePair sender = it.queuePair();
      QueuePair peer = it.queuePair();
      LoopedCard.connect(sender, peer);
      senders.add(sender);
    }
    // The card is busy: doorbells rung now wait, and there is room for 64.
    it.card.hca.holdDoorbells(true);
    for (int i = 0; i < 20; i++) {
      for (QueuePair sender : senders) {
        sender.postSend(it.write(64L * i, 40));
      }
    }
    assertThat(it.card.hca.hazards()).isEmpty();
    it.card.hca.holdDoorbells(false);
    it.await(80 * 20);
    for (int i = 0; i < 20; i++) {
      it.assertArrived(64L * i, 40);
    }
  }

  /** It may wait for something else first, such as a response of the peer. */
  @Test
  @Tag("hazard-1.4")
  void requestsAreExecutedWithoutPolling() {
    CompletionQueue unpolled = it.card.context.createCompletionQueue(512);
    QueuePair sender =
        it.pd.createQueuePair(
            QueuePairConfig.rc(unpolled, it.cq).sendDepth(256).maxSendSge(1).signalAll());
    QueuePair peer = it.queuePair();
    LoopedCard.connect(sender, peer);

    for (int i = 0; i < 250; i++) {
      sender.postSend(it.write(64L * i, 40));
    }

    int last = 64 * 249 + 39;
    long begin = System.nanoTime();
    while (it.target.segment().get(ValueLayout.JAVA_BYTE, last)
        != it.source.segment().get(ValueLayout.JAVA_BYTE, 39)) {
      it.settle();
      assertThat(System.nanoTime() - begin).as("time passed").isLessThan(LIMIT.toNanos());
    }
    assertThat(unpolled.poll(new Completions(256), 256)).isEqualTo(250);
    sender.close();
    unpolled.close();
  }
}
