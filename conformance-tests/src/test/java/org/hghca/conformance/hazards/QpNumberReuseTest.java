package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.hghca.conformance.hazards.TwoQueuePairs.Done;
import org.hghca.conformance.hazards.TwoQueuePairs.Half;
import org.hghca.driver.HghcaContext;
import org.hghca.driver.RetiredNumbers;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * On a card whose rings continue at their last positions, with nearly all numbers retired: the few
 * remaining ones are reused repeatedly.
 */
class QpNumberReuseTest {
  private static final int LIVES = 56;
  private static final int RING = 64;

  /** 8 us; the driver checks every 10 ms. */
  private static final int SHORT = 1;

  private final OneCard card = OneCard.r1();
  private final ProtectionDomain pd = card.context.allocateProtectionDomain();
  private final List<QueuePair> otherQps = new ArrayList<>();
  private final List<CompletionQueue> otherQueues = new ArrayList<>();

  /** Leaves four completion queues and two queue pairs. */
  @BeforeEach
  void takeTheOthers() {
    CompletionQueueConfig small = CompletionQueueConfig.of(RING).withRingEntries(RING);
    int queues = card.context.queryDevice().maxCq() - 4;
    int qps = card.context.queryDevice().maxQp() - 2;
    for (int i = 0; i < queues; i++) {
      otherQueues.add(card.context.createCompletionQueue(small));
    }
    for (int i = 0; i < qps; i++) {
      CompletionQueue queue = otherQueues.get(i);
      otherQps.add(
          pd.createQueuePair(
              QueuePairConfig.rc(queue, queue).sendDepth(1).receiveDepth(1).maxInline(0)));
    }
  }

  @AfterEach
  void close() {
    otherQps.forEach(QueuePair::close);
    otherQueues.forEach(CompletionQueue::close);
    pd.close();
    card.close();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  @Tag("hazard-5.2")
  @Tag("hazard-6.6")
  @Tag("hazard-12.8")
  void numbersAreReusedWithAnyLeftovers(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int life = 0; life < LIVES; life++) {
      try (TwoQueuePairs pair =
          new TwoQueuePairs(card.context, life < LIVES / 2 ? RING : 2 * RING)) {
        pair.connect(random.nextInt(1 << 20), random.nextInt(1 << 20), 0);
        exchange(pair, pair.left, pair.right, life, random);
        exchange(pair, pair.right, pair.left, life, random);
      }
    }
    card.assertUnharmed();
  }

  /** Messages in one direction; some receives stay, and some completions are not polled. */
  private static void exchange(
      TwoQueuePairs pair, Half from, Half to, int life, SplittableRandom random) {
    int messages = random.nextInt(8);
    int receives = messages + random.nextInt(4);
    int base = life * 100;
    int first = to == pair.left ? 0 : 32;
    for (int i = 0; i < receives; i++) {
      pair.receive(to, base + i, first + i);
    }
    int[] lengths = new int[messages];
    for (int i = 0; i < messages; i++) {
      lengths[i] = 1 + random.nextInt(2000);
      pair.send(from, base + 50 + i, first + 16, lengths[i]);
      if (i < messages - 2) {
        assertDone(TwoQueuePairs.await(from.sent, 1), from, base + 50 + i, lengths[i]);
        assertDone(TwoQueuePairs.await(to.received, 1), to, base + i, lengths[i]);
        pair.assertHolds(first + i, base + 50 + i, lengths[i]);
      } else {
        pair.awaitHeld(first + i, base + 50 + i, lengths[i]);
      }
    }
  }

  private static void assertDone(List<Done> done, Half half, long wrId, int bytes) {
    assertThat(done.getFirst().wrId()).isEqualTo(wrId);
    assertThat(done.getFirst().status()).isEqualTo(WcStatus.SUCCESS);
    assertThat(done.getFirst().bytes()).isEqualTo(bytes);
    assertThat(done.getFirst().qpNumber()).isEqualTo(half.qp.number());
  }

  @Test
  @Tag("hazard-12.5")
  @Tag("hazard-6.6")
  void numberThatHadAMessageWithoutAReceiveIsNotReused() {
    try (TwoQueuePairs pair = new TwoQueuePairs(card.context, RING)) {
      pair.connect(1, 2, SHORT);
      pair.send(pair.left, 1, 0, 64);
      TwoQueuePairs.await(pair.left.sent, 1);
      assertThat(pair.left.qp.state()).isEqualTo(QpState.ERR);
    }
    RetiredNumbers retired = ((HghcaContext) card.context).card().retired();
    assertThat(retired.queuePairs()).isEqualTo(2);
    assertThat(retired.completionQueues()).isZero();
    CompletionQueue queue = otherQueues.getFirst();
    QueuePairConfig config =
        QueuePairConfig.rc(queue, queue)
            .sendDepth(TwoQueuePairs.DEPTH)
            .receiveDepth(TwoQueuePairs.DEPTH)
            .maxInline(0);
    assertThatThrownBy(() -> pd.createQueuePair(config))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM))
        .hasMessageContaining("2 retired")
        .hasMessageContaining("open it again");
  }
}
