package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sizes of completion queues, their room, and their sharing. */
@Tag("rc")
class CompletionQueueTest {

  /**
   * Posts a number of requests and waits until the card has completed them all, without polling.
   */
  private static void writeUnpolled(RcPair pair, int count) {
    for (int i = 0; i < count - 1; i++) {
      pair.left.qp.postSend(write(pair.left, pair.right, i));
    }
    pair.left.randomize(0, 16, new SplittableRandom(count));
    pair.left.qp.postSend(pair.write(8).wrId(count - 1).sge(pair.left.buffer, 0, 8).signaled());
    MemorySegment last = pair.right.buffer.segment().asSlice(8, 8);
    MemorySegment sent = pair.left.buffer.segment().asSlice(0, 8);
    pair.fabric.await(() -> last.mismatch(sent) < 0, () -> "the last write has not arrived");
    pair.fabric.settle();
  }

  private static SendRequest write(Side from, Side to, long wrId) {
    return from.send
        .wrId(wrId)
        .rdmaWrite(to.address(0), to.buffer.rkey())
        .sge(from.buffer, 0, 8)
        .signaled();
  }

  @Test
  void negativePollIsRefusedAndTakesNothing() {
    try (RcPair pair = new RcSetup().open()) {
      CompletionQueue queue = pair.left.sendQueue;
      Completions room = new Completions(4);
      for (int round = 0; round < 2; round++) { // an empty queue, and one that is not
        for (int wrong : new int[] {-1, Integer.MIN_VALUE}) {
          assertErrno(Errno.EINVAL, () -> queue.poll(room, wrong), "a poll for " + wrong);
        }
        assertThat(queue.poll(room, 0)).isZero();
        writeUnpolled(pair, 1);
      }
      int[] taken = {0};
      // A card that has one request of a queue pair at a time gets the second after a poll.
      pair.fabric.await(() -> (taken[0] += queue.poll(room, 100)) == 2, () -> taken[0] + " of 2");
    }
  }

  @Test
  void ringSizesOtherThanPowersOfTwoAreRefused() {
    try (Fabric fabric = Fabric.open()) {
      for (int ring : new int[] {3, 100, 8, 1 << 30}) {
        assertErrno(
            Errno.EINVAL,
            () ->
                fabric
                    .left()
                    .createCompletionQueue(CompletionQueueConfig.of(10).withRingEntries(ring)));
      }
    }
  }

  @Test
  void queueOfOneEntryHoldsTheCompletionsOfAHundred() {
    try (RcPair pair = new RcSetup().open();
        CompletionQueue one = pair.left.context.createCompletionQueue(1);
        QueuePair left =
            pair.left.pd.createQueuePair(
                QueuePairConfig.rc(one, one).sendDepth(128).receiveDepth(128));
        QueuePair right =
            pair.right.pd.createQueuePair(
                QueuePairConfig.rc(pair.right.sendQueue, pair.right.receiveQueue)
                    .sendDepth(128)
                    .receiveDepth(128))) {
      RcPair.connect(pair.setup(), left, right);
      for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 128; i++) {
          left.postReceive(pair.left.receive.wrId(1000 + i).into(pair.left.buffer, 0, 8));
        }
        for (int i = 0; i < 128; i++) {
          left.postSend(write(pair.left, pair.right, i));
          right.postSend(pair.right.send.send().sge(pair.right.buffer, 0, 8).signaled());
        }
        pair.fabric.settle();
        // Polling lets a device continue that has room for only a few doorbells.
        List<Wc> sent = pair.right.sent(128);
        List<Wc> found = Wc.await(pair.fabric, one, 256);
        assertThat(found).allSatisfy(Side::assertSuccess);
        assertThat(found.stream().map(Wc::wrId).filter(id -> id < 1000))
            .containsExactlyElementsOf(LongStream.range(0, 128).boxed().toList());
        assertThat(found.stream().map(Wc::wrId).filter(id -> id >= 1000))
            .containsExactlyElementsOf(LongStream.range(1000, 1128).boxed().toList());
        assertThat(sent).allSatisfy(Side::assertSuccess);
      }
    }
  }

  @Test
  @VerbsCase(says = "a queue pair that a CQ has no room for is ENOMEM: a CQ cannot be overrun")
  void creatingAQueuePairReservesItsDepthsAndReportsTheRest() {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain();
        CompletionQueue queue =
            fabric
                .left()
                .createCompletionQueue(
                    CompletionQueueConfig.of(1)
                        .withRingEntries(!TestProfile.isRtl() ? 256 : 128))) {
      QueuePairConfig config = QueuePairConfig.rc(queue, queue);
      QueuePair first = pd.createQueuePair(config.sendDepth(100).receiveDepth(100));
      int own = !TestProfile.isRtl() ? 0 : 1; // the driver's, for the end of each queue pair
      assertNoRoom(
          pd, config.sendDepth(57).receiveDepth(0), 56 - own + " more", "not " + (57 + own));
      // The room for the sends, which was found, is returned when there is none for receives.
      assertNoRoom(pd, config.sendDepth(50).receiveDepth(7), 6 - 2 * own + " more", "not 7");
      assertNoRoom(pd, config.sendDepth(50).receiveDepth(7), 6 - 2 * own + " more", "not 7");
      QueuePair second = pd.createQueuePair(config.sendDepth(50).receiveDepth(6 - 2 * own));
      assertNoRoom(pd, config.sendDepth(1).receiveDepth(0), "0 more");
      first.close();
      QueuePair third = pd.createQueuePair(config.sendDepth(100).receiveDepth(100));
      second.close();
      third.close();
    }
  }

  /** Entries that the driver needs for itself. */
  @ParameterizedTest
  @CsvSource({"16, 1, 8, 8", "16, 16, 1, 0", "16, 8, 1, 1", "1, 1, 1, 0"})
  void ringOfSoManyEntriesTakesSoManyRequests(int ring, int pairs, int sends, int receives) {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain();
        CompletionQueue queue =
            fabric
                .left()
                .createCompletionQueue(CompletionQueueConfig.of(ring).withRingEntries(ring))) {
      assertThat(queue.entries()).isGreaterThanOrEqualTo(ring);
      List<QueuePair> made = new ArrayList<>();
      for (int i = 0; i < pairs; i++) {
        made.add(
            pd.createQueuePair(
                QueuePairConfig.rc(queue, queue).sendDepth(sends).receiveDepth(receives)));
      }
      made.forEach(QueuePair::close);
    }
  }

  @Test
  void largestQueueTakesAsManyRequestsAsItReports() {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain();
        CompletionQueue queue =
            fabric.left().createCompletionQueue(fabric.left().queryDevice().maxCqe())) {
      int most = fabric.left().queryDevice().maxQpWr();
      List<QueuePair> made = new ArrayList<>();
      for (int left = queue.entries(); left > 0; ) {
        int sends = Math.min(left / 2, most);
        int receives = Math.min(left - sends, most);
        left -= sends + receives;
        made.add(
            pd.createQueuePair(
                QueuePairConfig.rc(queue, queue).sendDepth(sends).receiveDepth(receives)));
      }
      made.forEach(QueuePair::close);
    }
  }

  private static void assertNoRoom(ProtectionDomain pd, QueuePairConfig config, String... words) {
    assertErrno(Errno.ENOMEM, () -> pd.createQueuePair(config), words);
  }

  @Test
  void manyQueuePairsShareAQueueAndEachKeepsItsOrder() {
    int pairs = 16;
    int messages = 20;
    try (Fabric fabric = Fabric.open();
        ProtectionDomain leftPd = fabric.left().allocateProtectionDomain();
        ProtectionDomain rightPd = fabric.right().allocateProtectionDomain();
        MemoryRegion leftBuffer = leftPd.allocate(4096, Side.ALL);
        MemoryRegion rightBuffer = rightPd.allocate(4096, Side.ALL);
        CompletionQueue leftQueue = fabric.left().createCompletionQueue(1);
        CompletionQueue rightQueue = fabric.right().createCompletionQueue(1)) {
      List<QueuePair> left = new ArrayList<>();
      List<QueuePair> right = new ArrayList<>();
      for (int i = 0; i < pairs; i++) {
        left.add(create(leftPd, leftQueue));
        right.add(create(rightPd, rightQueue));
        RcPair.connect(new RcSetup(), left.get(i), right.get(i));
      }
      SendRequest request = new SendRequest();
      for (int m = 0; m < messages; m++) {
        for (int i = 0; i < pairs; i++) {
          left.get(i)
              .postSend(
                  request
                      .wrId(1000L * left.get(i).number() + m)
                      .rdmaWrite(rightBuffer.address() + i, rightBuffer.rkey())
                      .sge(leftBuffer, i, 1)
                      .signaled());
        }
      }
      List<Wc> found = Wc.await(fabric, leftQueue, pairs * messages);
      for (QueuePair qp : left) {
        assertThat(found.stream().filter(wc -> wc.qpNumber() == qp.number()))
            .allSatisfy(Side::assertSuccess)
            .extracting(Wc::wrId)
            .containsExactlyElementsOf(
                LongStream.range(0, messages).mapToObj(m -> 1000L * qp.number() + m).toList());
      }
      left.forEach(QueuePair::close);
      right.forEach(QueuePair::close);
    }
  }

  private static QueuePair create(ProtectionDomain pd, CompletionQueue queue) {
    return pd.createQueuePair(QueuePairConfig.rc(queue, queue).sendDepth(32).receiveDepth(1));
  }

  @Test
  void pollTakesNoMoreThanRequested() {
    try (RcPair pair = new RcSetup().depth(16).open()) {
      writeUnpolled(pair, 10);
      Completions completions = new Completions(8);
      assertThat(pair.left.sendQueue.poll(completions, 3)).isEqualTo(3);
      assertThat(completions.wrId(2)).isEqualTo(2);
      assertThat(pair.left.sendQueue.poll(completions, 0)).isZero();
      assertThat(pair.left.sent(7).getFirst().wrId()).isEqualTo(3);
    }
  }

  @Test
  @Needs(Feature.RESIZE_CQ)
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_cq.CQTest.test_resize_cq",
      says = "a CQ resized to 1 and to 7; 6 unpolled: to 1 is EINVAL, and all 6 are kept")
  void resizeKeepsCompletionsAndRefusesFewerEntries() {
    try (RcPair pair = new RcSetup().depth(8).open()) {
      CompletionQueue queue = pair.left.sendQueue;
      queue.resize(1);
      assertThat(queue.entries()).isGreaterThanOrEqualTo(1);
      queue.resize(7);
      assertThat(queue.entries()).isGreaterThanOrEqualTo(7);
      writeUnpolled(pair, 6);
      assertErrno(Errno.EINVAL, () -> queue.resize(1), "6 completions");
      assertThat(pair.left.sent(6)).extracting(Wc::wrId).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
      queue.resize(1);
      int most = pair.left.context.queryDevice().maxCqe();
      for (int wrong : new int[] {0, -1, most + 1}) {
        assertErrno(Errno.EINVAL, () -> queue.resize(wrong));
      }
      pair.left.qp.postSend(write(pair.left, pair.right, 99));
      assertThat(pair.left.sent().wrId()).isEqualTo(99);
    }
  }

  @Test
  void queueOfAnotherContextIsRefused() {
    try (Fabric fabric = Fabric.oneDevice();
        Context other = RdmaDevices.open(fabric.left().device().locator());
        ProtectionDomain pd = fabric.left().allocateProtectionDomain();
        CompletionQueue foreign = other.createCompletionQueue(1)) {
      assertErrno(
          Errno.EINVAL,
          () -> pd.createQueuePair(QueuePairConfig.rc(foreign, foreign)),
          "another context");
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_cq.CQAPITest.test_create_cq",
      says = "cqe of 1, half and all of max_cqe, with comp_vector 0, 1 and the last")
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_cqex.CQEXAPITest.test_create_cq_ex",
      says = "the same, with the only create method")
  void everySizeWithEveryVector() {
    try (Fabric fabric = Fabric.open()) {
      int most = fabric.left().queryDevice().maxCqe();
      int vectors = fabric.left().queryDevice().completionVectors();
      for (int vector : new int[] {0, Math.min(1, vectors - 1), vectors - 1}) {
        for (int entries : new int[] {1, 2, 3, most / 2, most - 1, most}) {
          CompletionQueueConfig config = CompletionQueueConfig.of(entries);
          try (CompletionQueue queue =
              fabric.left().createCompletionQueue(config.withVector(vector))) {
            assertThat(queue.entries()).isGreaterThanOrEqualTo(entries);
            assertThat(queue.channel()).isEmpty();
            assertThat(queue.poll(new Completions(4))).isZero();
          }
        }
      }
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_cq.CQAPITest.test_create_cq_bad_flow",
      says = "max_cqe + 1 is EINVAL, comp_vector num_comp_vectors + 1 is EINVAL")
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_cqex.CQEXAPITest.test_create_cq_ex_bad_flow",
      says = "the same EINVAL")
  void invalidSizesAndVectorsAreRefused() {
    try (Fabric fabric = Fabric.open()) {
      int most = fabric.left().queryDevice().maxCqe();
      int vectors = fabric.left().queryDevice().completionVectors();
      for (int wrong : new int[] {most + 1, 0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
        assertErrno(Errno.EINVAL, () -> fabric.left().createCompletionQueue(wrong), "1 to " + most);
      }
      for (int wrong : new int[] {vectors, vectors + 1, -1}) {
        CompletionQueueConfig config = CompletionQueueConfig.of(100).withVector(wrong);
        assertErrno(Errno.EINVAL, () -> fabric.left().createCompletionQueue(config));
      }
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_cqex.CqExTestCase.test_rc_traffic_cq_ex",
      says = "100 completions in batches: each once, in order, none before it was requested")
  void batchesReturnEachCompletionOnce() {
    try (RcPair pair = new RcSetup().depth(100).open()) {
      Side left = pair.left;
      for (int i = 0; i < 100; i++) {
        pair.right.postReceive(1000 + i, 0, 8);
        left.qp.postSend(left.send.wrId(i).send().sge(left.buffer, 0, 8).signaled());
      }
      assertBatches(pair, left.sendQueue, 0);
      assertBatches(pair, pair.right.receiveQueue, 1000);
    }
  }

  /** Polls as start_poll, next_poll, end_poll do: a completion is valid until the next poll. */
  private static void assertBatches(RcPair pair, CompletionQueue queue, long first) {
    Completions completions = new Completions(7);
    List<Long> found = new ArrayList<>();
    pair.fabric.await(
        () -> {
          int n = found.isEmpty() ? queue.poll(completions, 3) : queue.poll(completions);
          assertThat(n).isLessThanOrEqualTo(found.isEmpty() ? 3 : 7);
          for (int i = 0; i < n; i++) {
            assertThat(completions.isSuccess(i)).isTrue();
            found.add(completions.wrId(i));
          }
          return found.size() >= 100;
        },
        () -> found.size() + " of 100 completions have come");
    assertThat(found)
        .containsExactlyElementsOf(LongStream.range(first, first + 100).boxed().toList());
    assertThat(queue.poll(completions)).isZero();
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mlx5_devx_async_events.Mlx5EventsTrafficTest.test_cq_error_event_*",
      says = "an unpolled CQ is not overrun: the queue is full, nothing is lost")
  @VerbsCase(says = "a CQ of one entry holds all that its queues can have outstanding: no CQ_ERR")
  void unpolledQueueIsNotOverrun() {
    try (RcPair pair = new RcSetup().depth(64).open()) {
      Side left = pair.left;
      if (TestProfile.has(Feature.RESIZE_CQ)) {
        left.sendQueue.resize(1);
      }
      SendRequest write =
          left.send
              .rdmaWrite(pair.right.address(0), pair.right.buffer.rkey())
              .sge(left.buffer, 0, 8)
              .signaled();
      int rounds = pair.fabric.hasVirtualTime() ? 1000 : 10; // a round takes time that passes
      long posted = 0;
      for (int round = 0; round < rounds; round++) {
        while (left.qp.tryPostSend(write.wrId(posted))) {
          posted++;
        }
        pair.fabric.settle();
      }
      assertThat(posted).isEqualTo(64);
      assertThat(left.sent(64))
          .allSatisfy(Side::assertSuccess)
          .extracting(Wc::wrId)
          .containsExactlyElementsOf(LongStream.range(0, 64).boxed().toList());
      assertThat(left.qp.tryPostSend(write.wrId(64))).isTrue();
      assertThat(left.sent().wrId()).isEqualTo(64);
    }
  }
}
