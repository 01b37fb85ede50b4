package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rings under one key, for a device that takes their offsets, and their cost on others. */
class RingOffsetsTest {
  private DriverFixture it = new DriverFixture("");

  @AfterEach
  void close() {
    it.close();
  }

  private HghcaQueuePair queuePair(int depth) {
    return (HghcaQueuePair)
        it.pd.createQueuePair(
            QueuePairConfig.rc(it.cq, it.cq).sendDepth(depth).receiveDepth(depth).maxInline(0));
  }

  @Test
  void ringsShareAKeyAtTheirOwnOffsets() {
    List<HghcaQueuePair> all = new ArrayList<>();
    Set<Integer> keys = new HashSet<>();
    Set<Integer> offsets = new HashSet<>();
    for (int i = 0; i < 8; i++) {
      HghcaQueuePair qp = queuePair(2);
      all.add(qp);
      keys.add(qp.memory().sendKey());
      keys.add(qp.memory().receiveKey());
      offsets.add(qp.memory().sendOffset());
      offsets.add(qp.memory().receiveOffset());
    }
    assertThat(keys).hasSize(1);
    assertThat(offsets).hasSize(16).allMatch(offset -> offset % 64 == 0);
    all.forEach(HghcaQueuePair::close);
  }

  /** A connection has a domain of its own, whose ring would be one more key. */
  @ParameterizedTest
  @CsvSource({"'', true", "as=s, false", "profile=r1, false", "profile=r2, false"})
  void domainsShareAKeyWhereTheCardTakesRingsOfAll(String parameter, boolean shared) {
    it.close();
    it = new DriverFixture(parameter.isEmpty() ? "" : "&" + parameter);
    try (HghcaProtectionDomain other =
            (HghcaProtectionDomain) it.context.allocateProtectionDomain();
        HghcaQueuePair one = queuePair(2);
        HghcaQueuePair two =
            (HghcaQueuePair) other.createQueuePair(QueuePairConfig.rc(it.cq, it.cq).sendDepth(2))) {
      assertThat(one.memory().sendKey() == two.memory().sendKey()).isEqualTo(shared);
      assertThat(one.memory().sends().asOverlappingSlice(two.memory().sends())).isEmpty();
      assertThat(sendToItself(one)).isEqualTo(WcStatus.SUCCESS);
      assertThat(sendToItself(two)).isEqualTo(WcStatus.SUCCESS);
    }
  }

  private WcStatus sendToItself(HghcaQueuePair qp) {
    Completions completions = new Completions(2);
    it.connect(qp);
    try (MemoryRegion memory = qp.protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE)) {
      qp.postReceive(new ReceiveRequest().into(memory, 0, 8));
      qp.postSend(new SendRequest().send().sge(memory, 32, 8).signaled());
      int count = 0;
      while (count < 2) {
        int polled = it.cq.poll(completions);
        count += polled;
        for (int i = 0; i < polled; i++) {
          if (completions.status(i) != WcStatus.SUCCESS) {
            return completions.status(i);
          }
        }
      }
      return WcStatus.SUCCESS;
    }
  }

  /** Two queues of a page each would be two keys. */
  @ParameterizedTest
  @CsvSource({"'', true", "as=s, false", "profile=r1, false", "profile=r2, false"})
  void completionQueuesShareAKeyWhereTheCardTakesOffsets(String parameter, boolean shared) {
    it.close();
    it = new DriverFixture(parameter.isEmpty() ? "" : "&" + parameter);
    try (HghcaCompletionQueue one = completionQueue();
        HghcaCompletionQueue two = completionQueue()) {
      assertThat(one.memory().key() == two.memory().key()).isEqualTo(shared);
      assertThat(one.memory().offset() != two.memory().offset()).isEqualTo(shared);
      assertThat(one.memory().segment().asOverlappingSlice(two.memory().segment())).isEmpty();
    }
  }

  private HghcaCompletionQueue completionQueue() {
    return (HghcaCompletionQueue)
        it.context.createCompletionQueue(CompletionQueueConfig.of(64).withRingEntries(64));
  }

  @ParameterizedTest
  @CsvSource({"as=s, 1", "profile=r1, 1", "'', 0"})
  void queuePairWithoutReceivesUsesNoKeyForThem(String parameter, int keysEach) {
    it.close();
    it = new DriverFixture(parameter.isEmpty() ? "" : "&" + parameter);
    queuePair(0).close(); // what they share is there
    try (HghcaQueuePair one = queuePair(0);
        HghcaQueuePair two = queuePair(0)) {
      assertThat(one.memory().receiveKey()).isEqualTo(two.memory().receiveKey());
      boolean shared = one.memory().sendKey() == two.memory().sendKey();
      assertThat(shared).isEqualTo(keysEach == 0);
    }
  }

  /** A key of rings gives no other access, even if a peer knows it. */
  @Test
  void noElementMayNameTheMemoryOfRings() {
    HghcaQueuePair qp = queuePair(2);
    it.connect(qp);
    Completions completions = new Completions(4);
    try (MemoryRegion memory = it.pd.allocate(64, AccessFlag.LOCAL_WRITE)) {
      qp.postReceive(new ReceiveRequest().into(memory, 0, 64));
      qp.postSend(
          new SendRequest()
              .send()
              .sge(qp.memory().sendOffset(), 16, qp.memory().sendKey())
              .signaled());
      int count = 0;
      while (count == 0) {
        count = it.cq.poll(completions);
      }
      assertThat(completions.status(0)).isEqualTo(WcStatus.LOC_PROT_ERR);
      qp.close();
    }
  }
}
