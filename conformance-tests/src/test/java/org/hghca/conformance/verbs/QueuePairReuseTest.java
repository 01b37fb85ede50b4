package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.LongStream;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Queue pairs that are closed with unpolled completions, and the queue pairs that follow them. */
class QueuePairReuseTest {
  private static final long OLD = 1_000_000;

  /** Requests of a single queue pair on a ring of 128; the driver may use one entry. */
  private static final int FULL = !TestProfile.isRtl() ? 128 : 127;

  private static QueuePair create(Side side, CompletionQueue queue, int depth) {
    return side.pd.createQueuePair(
        QueuePairConfig.rc(queue, queue).sendDepth(depth).receiveDepth(0));
  }

  private static void write(RcPair pair, QueuePair qp, long firstWrId, int count) {
    for (int i = 0; i < count; i++) {
      qp.postSend(pair.write(0).wrId(firstWrId + i).sge(pair.left.buffer, 0, 8).signaled());
    }
    pair.fabric.settle();
  }

  private static void assertExactly(RcPair pair, CompletionQueue queue, long first, int count) {
    List<Wc> found = Wc.await(pair.fabric, queue, count);
    assertThat(found)
        .allSatisfy(Side::assertSuccess)
        .extracting(Wc::wrId)
        .containsExactlyElementsOf(LongStream.range(first, first + count).boxed().toList());
  }

  private static QueuePair peer(RcPair pair) {
    return pair.right.pd.createQueuePair(
        QueuePairConfig.rc(pair.right.sendQueue, pair.right.receiveQueue));
  }

  @Test
  @Needs(Feature.QUEUE_PAIR_NUMBERS_FOR_EVER)
  void unpolledCompletionsOfADestroyedQueuePairNeverAppear() {
    try (RcPair pair = new RcSetup().unconnected().open();
        CompletionQueue queue = pair.left.context.createCompletionQueue(128)) {
      QueuePair right = peer(pair);
      QueuePair old = create(pair.left, queue, 128);
      RcPair.connect(pair.setup(), old, right);
      write(pair, old, OLD, 100);
      int number = old.number();
      old.close();
      assertThat(Wc.drain(queue)).isEmpty();
      right.modify(QpAttributes.to(QpState.RESET));
      // Numbers are reused in round-robin order.
      QueuePair again = create(pair.left, queue, 128);
      for (int i = 0; again.number() != number && i < 1 << 16; i++) {
        again.close();
        again = create(pair.left, queue, 128);
      }
      assertThat(again.number()).isEqualTo(number);
      RcPair.connect(pair.setup(), again, right);
      write(pair, again, 0, 100);
      assertExactly(pair, queue, 0, 100);
      again.close();
      right.close();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 100, 128})
  void ringHasRoomForTheNextQueuePairWithoutPolling(int unpolled) {
    try (RcPair pair = new RcSetup().unconnected().open();
        CompletionQueue queue =
            pair.left.context.createCompletionQueue(
                CompletionQueueConfig.of(1).withRingEntries(128))) {
      for (int round = 0; round < 5; round++) {
        QueuePair right = peer(pair);
        QueuePair old = create(pair.left, queue, FULL);
        RcPair.connect(pair.setup(), old, right);
        write(pair, old, OLD, Math.min(unpolled, FULL));
        old.close();
        right.close();
      }
      QueuePair right = peer(pair);
      QueuePair next = create(pair.left, queue, FULL);
      RcPair.connect(pair.setup(), next, right);
      for (int round = 0; round < 3; round++) {
        write(pair, next, 128L * round, FULL);
        assertExactly(pair, queue, 128L * round, FULL);
      }
      next.close();
      right.close();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 100, 128})
  @Needs(Feature.RECONNECTION)
  void ringHasRoomAfterAResetWithoutPolling(int unpolled) {
    try (RcPair pair = new RcSetup().unconnected().open();
        CompletionQueue queue =
            pair.left.context.createCompletionQueue(
                CompletionQueueConfig.of(1).withRingEntries(128))) {
      QueuePair right = peer(pair);
      QueuePair qp = create(pair.left, queue, FULL);
      for (int round = 0; round < 5; round++) {
        RcPair.connect(pair.setup(), qp, right);
        write(pair, qp, OLD, Math.min(unpolled, FULL));
        qp.modify(QpAttributes.to(QpState.RESET));
        right.modify(QpAttributes.to(QpState.RESET));
        RcPair.connect(pair.setup(), qp, right);
        write(pair, qp, 0, FULL);
        assertExactly(pair, queue, 0, FULL);
        qp.modify(QpAttributes.to(QpState.RESET));
        right.modify(QpAttributes.to(QpState.RESET));
      }
      qp.close();
      right.close();
    }
  }

  @Test
  @Needs(Feature.RECONNECTION)
  void completionsOfOtherQueuePairsStayInOrder() {
    try (RcPair pair = new RcSetup().unconnected().open();
        CompletionQueue queue =
            pair.left.context.createCompletionQueue(
                CompletionQueueConfig.of(1).withRingEntries(256))) {
      QueuePair rightOne = peer(pair);
      QueuePair rightTwo = peer(pair);
      QueuePair stays = create(pair.left, queue, FULL);
      RcPair.connect(pair.setup(), stays, rightOne);
      for (int round = 0; round < 6; round++) {
        QueuePair goes = create(pair.left, queue, FULL);
        RcPair.connect(pair.setup(), goes, rightTwo);
        for (int i = 0; i < 40; i++) {
          write(pair, goes, OLD, 3);
          write(pair, stays, 2L * i, 2);
        }
        goes.close();
        rightTwo.modify(QpAttributes.to(QpState.RESET));
        write(pair, stays, 80, FULL - 80);
        assertExactly(pair, queue, 0, FULL);
      }
      stays.close();
      rightOne.close();
      rightTwo.close();
    }
  }

  @Test
  void destroyingDuringTrafficLeavesPeerAndDeviceWorking() {
    for (int i = 0; i < 20; i++) {
      try (RcPair pair = new RcSetup().depth(64).retries(12, 7, 8, 1).on(Fabric.threaded());
          QueuePair second =
              pair.left.pd.createQueuePair(
                  QueuePairConfig.rc(pair.left.sendQueue, pair.left.receiveQueue).sendDepth(4));
          QueuePair secondPeer = peer(pair)) {
        pair.fabric.mayRetire();
        for (int m = 0; m < 40; m++) {
          pair.left.qp.postSend(
              pair.write(0)
                  .sge(pair.left.buffer, 0, Math.max(Sizes.least(), 1000L * i))
                  .signaled());
        }
        (i % 2 == 0 ? pair.left.qp : pair.right.qp).close();
        RcPair.connect(pair.setup(), second, secondPeer);
        second.postSend(pair.write(0).wrId(OLD).sge(pair.left.buffer, 0, 8).signaled());
        boolean[] seen = new boolean[1];
        pair.fabric.await(
            () ->
                seen[0] |= Wc.drain(pair.left.sendQueue).stream().anyMatch(wc -> wc.wrId() == OLD),
            () -> "no completion of the other queue pair");
      }
    }
  }

  @Test
  void thousandCreationsOfAQueuePairLeaveNothingBehind() {
    try (RcPair pair = RcPair.open()) {
      for (int i = 0; i < 1000; i++) {
        create(pair.left, pair.left.sendQueue, 1).close();
      }
      new Transfer(pair.left, pair.right, 1)
          .run(WrOpcode.SEND, Pieces.one(0, 100), Pieces.one(0, 100));
    }
  }
}
