package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import org.hghca.conformance.hazards.TwoQueuePairs.Done;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Requests that wait for a READ on the first RTL are released by any polling thread, and flushed in
 * order.
 */
class FenceHazardsTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final int LENGTH = 3000;

  private final LoopedCard it = new LoopedCard();
  private final CompletionChannel channel = it.card.context.createCompletionChannel();
  private final CompletionQueue sent =
      it.card.context.createCompletionQueue(
          CompletionQueueConfig.of(64).withRingEntries(64).withChannel(channel));
  private final QueuePair qp =
      it.pd.createQueuePair(QueuePairConfig.rc(sent, it.cq).sendDepth(16).receiveDepth(2));
  private final QueuePair peer = it.queuePair();

  FenceHazardsTest() {
    LoopedCard.connect(qp, peer);
  }

  @AfterEach
  void close() {
    qp.close();
    sent.close();
    channel.close();
    it.close();
  }

  /** Reads to page 0, and writes what was read to page 4. */
  private void postReadAndFencedWrite() {
    SendRequest write =
        new SendRequest()
            .rdmaWrite(it.target.address() + 4L * LoopedCard.PAGE, it.target.rkey())
            .sge(it.target, 0, LENGTH)
            .fence()
            .wrId(2)
            .signaled();
    qp.postSend(new SendRequest[] {it.read(0, LENGTH).wrId(1), write});
  }

  private void awaitWritten() {
    long last = 4L * LoopedCard.PAGE + LENGTH - 1;
    byte expected = it.source.segment().get(ValueLayout.JAVA_BYTE, LENGTH - 1);
    assertThat(expected).isNotZero();
    long start = System.nanoTime();
    while (it.target.segment().get(ValueLayout.JAVA_BYTE, last) != expected) {
      assertThat(System.nanoTime() - start).as("time passed").isLessThan(LIMIT.toNanos());
      Thread.onSpinWait();
    }
    it.assertArrived(4L * LoopedCard.PAGE, LENGTH);
  }

  @Test
  @Tag("hazard-12.15")
  void waiterIsWokenByARequestBehindAnUnsignaledRead() throws InterruptedException {
    sent.requestNotify(false);
    postReadAndFencedWrite();
    assertThat(channel.await(LIMIT)).contains(sent);
    List<Done> done = TwoQueuePairs.await(sent, 1);
    assertThat(done).extracting(Done::wrId).containsExactly(2L);
    awaitWritten();
  }

  @Test
  @Tag("hazard-12.15")
  void fencedRequestIsExecutedWithoutPollingOrWaiting() {
    postReadAndFencedWrite();
    awaitWritten();
    assertThat(TwoQueuePairs.await(sent, 1)).extracting(Done::wrId).containsExactly(2L);
  }

  @Test
  @Tag("hazard-12.15")
  void waitingRequestsAreFlushedInOrderAtErr() {
    it.expectHarm("12.5"); // the peer has no receive
    qp.postSend(it.send(64).wrId(1));
    postReadAndFencedWrite();
    qp.modify(QpAttributes.to(QpState.ERR));
    List<Done> done = TwoQueuePairs.await(sent, 3);
    assertThat(done).extracting(Done::wrId).containsExactly(1L, 1L, 2L);
    assertThat(done).extracting(Done::status).containsOnly(WcStatus.WR_FLUSH_ERR);
  }
}
