package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.hghca.conformance.hazards.TwoQueuePairs.Done;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A thread that waits for completions that the first RTL does not generate is woken for those of
 * the driver.
 */
class WaiterHazardsTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  /** 8 us; the driver checks every 10 ms. */
  private static final int SHORT = 1;

  private final OneCard card = OneCard.r1();
  private final ProtectionDomain pd = card.context.allocateProtectionDomain();
  private final MemoryRegion buffer = pd.allocate(8192, Set.of(AccessFlag.LOCAL_WRITE));
  private final CompletionChannel channel = card.context.createCompletionChannel();
  private final CompletionQueue sent = queue();
  private final CompletionQueue received = queue();
  private final QueuePair qp = queuePair();
  private final QueuePair peer = queuePair();

  private CompletionQueue queue() {
    return card.context.createCompletionQueue(CompletionQueueConfig.of(64).withChannel(channel));
  }

  private QueuePair queuePair() {
    return pd.createQueuePair(
        QueuePairConfig.rc(sent, received).sendDepth(4).receiveDepth(4).signalAll());
  }

  @AfterEach
  void close() {
    qp.close();
    peer.close();
    sent.close();
    received.close();
    channel.close();
    buffer.close();
    pd.close();
    card.close();
  }

  private void connect(QueuePair one, QueuePair other, int timeout) {
    ConnectionOptions options = ConnectionOptions.DEFAULT;
    one.modify(options.toInit(QpType.RC));
    one.modify(
        options.toRtr(
            QpType.RC, new QpEndpoint(0, other.number(), 0, card.context.queryGid(1, 0))));
    one.modify(options.toRts(QpType.RC, 0).timeout(timeout).retryCount(0));
  }

  private void assertWokenFor(CompletionQueue queue) throws InterruptedException {
    assertThat(channel.await(LIMIT)).as("who waits for completions is woken").contains(queue);
  }

  @Test
  @Tag("hazard-5.4")
  void waiterIsWokenForReceivesThatTheDriverFlushes() throws InterruptedException {
    connect(peer, qp, 0);
    connect(qp, peer, 0);
    qp.postReceive(new ReceiveRequest().wrId(3).into(buffer, 0, 64));
    received.requestNotify(false);
    assertThat(channel.poll()).isEmpty();
    qp.modify(QpAttributes.to(QpState.ERR));
    assertWokenFor(received);
    List<Done> done = TwoQueuePairs.poll(received, 4);
    assertThat(done).extracting(Done::wrId).containsExactly(3L);
    assertThat(done).extracting(Done::status).containsExactly(WcStatus.WR_FLUSH_ERR);
    received.requestNotify(false);
    qp.postReceive(new ReceiveRequest().wrId(4).into(buffer, 0, 64));
    assertWokenFor(received);
    assertThat(TwoQueuePairs.poll(received, 4)).extracting(Done::wrId).containsExactly(4L);
  }

  @Test
  @Tag("hazard-9")
  void waiterIsWokenForATimeOutThatTheDriverDetects() throws InterruptedException {
    connect(peer, qp, 0);
    connect(qp, peer, SHORT);
    sent.requestNotify(false);
    qp.postSend(new SendRequest().send().wrId(5).sge(buffer, 0, 64)); // the peer has no receive
    assertWokenFor(sent);
    List<Done> done = TwoQueuePairs.poll(sent, 4);
    assertThat(done).extracting(Done::wrId).containsExactly(5L);
    assertThat(done).extracting(Done::status).containsExactly(WcStatus.RNR_RETRY_EXC_ERR);
  }
}
