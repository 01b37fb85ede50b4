package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.hghca.abi.HardwareProfile;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;

/** Completion queues that are polled, as in rdma-core's tests. */
class BehaviorOfCompletionQueuesTest {

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
        for (int entries : new int[] {1, most / 2, most}) {
          CompletionQueueConfig config = CompletionQueueConfig.of(entries);
          try (CompletionQueue queue =
              fabric.left().createCompletionQueue(config.withVector(vector))) {
            assertThat(queue.entries()).isGreaterThanOrEqualTo(entries);
            assertThat(queue.channel()).isEmpty();
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
      for (CompletionQueueConfig wrong :
          List.of(
              CompletionQueueConfig.of(most + 1),
              CompletionQueueConfig.of(0),
              CompletionQueueConfig.of(100).withVector(vectors),
              CompletionQueueConfig.of(100).withVector(vectors + 1),
              CompletionQueueConfig.of(100).withVector(-1))) {
        assertThatThrownBy(() -> fabric.left().createCompletionQueue(wrong).close())
            .isInstanceOf(VerbsException.class)
            .extracting("errno")
            .isEqualTo(Errno.EINVAL);
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
      // Only a limited number at a time, if a device has room for only a few doorbells.
      int most = TestProfile.hardware().requestsInFlight();
      pair.fabric.settle();
      if (most == HardwareProfile.UNBOUNDED) {
        assertBatches(left.sendQueue, 0);
      } else {
        assertThat(left.sent(100)).allSatisfy(Side::assertSuccess);
        pair.fabric.settle();
      }
      assertBatches(pair.right.receiveQueue, 1000);
    }
  }

  /** Polls as start_poll, next_poll, end_poll do: a completion is valid until the next poll. */
  private static void assertBatches(CompletionQueue queue, long first) {
    Completions completions = new Completions(7);
    List<Long> found = new ArrayList<>();
    for (int n = queue.poll(completions, 3); n > 0; n = queue.poll(completions)) {
      assertThat(n).isLessThanOrEqualTo(7);
      for (int i = 0; i < n; i++) {
        assertThat(completions.isSuccess(i)).isTrue();
        found.add(completions.wrId(i));
      }
    }
    assertThat(found)
        .containsExactlyElementsOf(LongStream.range(first, first + 100).boxed().toList());
    assertThat(queue.poll(completions)).isZero();
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mlx5_devx_async_events.Mlx5EventsTrafficTest.test_cq_error_event_*",
      says = "an unpolled CQ is not overrun: the queue is full, nothing is lost")
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "a CQ of one entry holds all that its queues can have outstanding: no CQ_ERR")
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
      long posted = 0;
      for (int round = 0; round < 1000; round++) {
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
