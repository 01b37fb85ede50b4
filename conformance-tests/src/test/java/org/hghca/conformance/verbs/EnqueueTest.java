package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.SplittableRandom;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests that are written now and rung later. */
@Tag("rc")
class EnqueueTest {
  private static final int COUNT = 6;
  private static final int BYTES = 64;

  private static SendRequest write(RcPair pair, int index) {
    long at = (long) index * BYTES;
    return new SendRequest()
        .wrId(index)
        .rdmaWrite(pair.right.address(1024 + at), pair.right.buffer.rkey())
        .sge(pair.left.buffer, at, BYTES)
        .signaled();
  }

  @Test
  void enqueuedRequestsCompleteInOrderWhenTheyAreFlushed() {
    try (RcPair pair = new RcSetup().depth(COUNT).open()) {
      pair.left.randomize(0, COUNT * BYTES, new SplittableRandom(1));
      for (int i = 0; i < COUNT; i++) {
        pair.left.qp.enqueueSend(write(pair, i));
      }
      pair.left.qp.flushSends();

      List<Wc> sent = pair.left.sent(COUNT);
      assertThat(sent).allSatisfy(Side::assertSuccess);
      assertThat(sent).extracting(Wc::wrId).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
      assertThat(
              pair.right
                  .memory()
                  .asSlice(1024, COUNT * BYTES)
                  .mismatch(pair.left.memory().asSlice(0, COUNT * BYTES)))
          .isEqualTo(-1);
    }
  }

  @Test
  void requestsPostedAfterEnqueuedOnesCompleteAfterThem() {
    try (RcPair pair = new RcSetup().depth(COUNT).open()) {
      pair.left.qp.enqueueSend(write(pair, 0));
      pair.left.qp.enqueueSend(write(pair, 1));
      pair.left.qp.postSend(write(pair, 2));

      assertThat(pair.left.sent(3)).extracting(Wc::wrId).containsExactly(0L, 1L, 2L);
    }
  }

  /** No flush is needed before slots become free. */
  @Test
  void fullQueueStartsEnqueuedRequests() {
    try (RcPair pair = new RcSetup().depth(COUNT).open()) {
      int taken = 0;
      while (pair.left.qp.tryEnqueueSend(write(pair, taken))) {
        taken++;
      }
      assertThat(taken).isEqualTo(COUNT);
      assertThat(pair.left.sent(COUNT)).allSatisfy(Side::assertSuccess);
      assertThat(pair.left.qp.tryEnqueueSend(write(pair, 0))).isTrue();
      pair.left.qp.flushSends();
      assertThat(pair.left.sent(1)).allSatisfy(Side::assertSuccess);
    }
  }
}
