package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.hghca.conformance.hazards.TwoQueuePairs.Done;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requirements on both ends of a connection, and the result if one of them is violated. */
class HandshakeHazardsTest {
  /** 4.096 us * 2^8. */
  private static final int SHORT = 8;

  private static final int RING = 128;

  /** Queue pairs of two connections, and two more. */
  private static final int FEW = 6;

  /** The card would send in each of these states, and a receiver in INIT would lose it. */
  @Test
  @Tag("hazard-12.12")
  @Tag("hazard-6.3")
  void nothingIsSentBeforeRts() {
    try (OneCard card = OneCard.r1();
        TwoQueuePairs pair = new TwoQueuePairs(card.context, RING)) {
      ConnectionOptions options = ConnectionOptions.DEFAULT;
      QueuePair qp = pair.left.qp;
      assertRefused(pair, QpState.RESET);
      qp.modify(options.toInit(QpType.RC));
      pair.right.qp.modify(options.toInit(QpType.RC));
      assertRefused(pair, QpState.INIT);
      qp.modify(
          options.toRtr(
              QpType.RC,
              new QpEndpoint(0, pair.right.qp.number(), 0, card.context.queryGid(1, 0))));
      assertRefused(pair, QpState.RTR);
      card.assertUnharmed();
    }
  }

  /** The peer must reconnect, but neither side reports data that did not arrive. */
  @Test
  @Tag("hazard-12.12")
  void messageToAReceiverThatIsNotReadyIsNotReportedDelivered() {
    try (OneCard card = OneCard.r1();
        TwoQueuePairs pair = new TwoQueuePairs(card.context, RING)) {
      ConnectionOptions options = ConnectionOptions.DEFAULT;
      pair.right.qp.modify(options.toInit(QpType.RC));
      pair.receive(pair.right, 7, 3);
      QueuePair early = pair.left.qp;
      early.modify(options.toInit(QpType.RC));
      early.modify(
          options.toRtr(
              QpType.RC,
              new QpEndpoint(0, pair.right.qp.number(), 0, card.context.queryGid(1, 0))));
      early.modify(options.toRts(QpType.RC, 0));
      pair.send(pair.left, 1, 0, 64);
      Done done = TwoQueuePairs.await(pair.left.sent, 1).getFirst();
      assertThat(done.status()).isNotEqualTo(WcStatus.SUCCESS);
      assertThat(early.state()).isEqualTo(QpState.ERR);
      card.assertUnharmed();
    }
  }

  private static void assertRefused(TwoQueuePairs pair, QpState state) {
    assertThatThrownBy(() -> pair.send(pair.left, 1, 0, 64))
        .isInstanceOf(BadRequestException.class)
        .hasMessageContaining(state.name())
        .extracting("errno")
        .isEqualTo(Errno.EINVAL);
  }

  @Test
  @Tag("hazard-12.4")
  void messageLongerThanItsReceiveRetiresTheNumbers() {
    try (OneCard card = OneCard.r1();
        ProtectionDomain pd = card.context.allocateProtectionDomain();
        CompletionQueue queue = card.context.createCompletionQueue(8000)) {
      List<QueuePair> others = takeAllNumbersBut(FEW, pd, queue);
      List<Integer> burnt = new ArrayList<>();
      try (TwoQueuePairs pair = new TwoQueuePairs(card.context, RING);
          TwoQueuePairs other = new TwoQueuePairs(card.context, RING)) {
        pair.connect(100, 200, SHORT);
        other.connect(300, 400, SHORT);
        burnt.add(pair.right.qp.number());
        pair.right.qp.postReceive(new ReceiveRequest().wrId(7).into(pair.buffer, 0, 100));
        pair.send(pair.left, 1, 1, 300);
        Done done = TwoQueuePairs.await(pair.left.sent, 1).getFirst();
        assertThat(done.wrId()).isEqualTo(1);
        assertThat(done.status()).isNotEqualTo(WcStatus.SUCCESS);
        assertThat(pair.left.qp.state()).isEqualTo(QpState.ERR);
        assertArrives(other);
      }
      for (int i = 0; i < 20; i++) {
        try (TwoQueuePairs next = new TwoQueuePairs(card.context, RING)) {
          assertThat(List.of(next.left.qp.number(), next.right.qp.number()))
              .doesNotContainAnyElementsOf(burnt);
          next.connect(i, i, SHORT);
          assertArrives(next);
        }
      }
      others.forEach(QueuePair::close);
      card.assertOnlyHazards("12.4");
    }
  }

  /** So that the remaining numbers are reused repeatedly. */
  private static List<QueuePair> takeAllNumbersBut(
      int few, ProtectionDomain pd, CompletionQueue queue) {
    QueuePairConfig small =
        QueuePairConfig.rc(queue, queue).sendDepth(1).receiveDepth(1).maxInline(0);
    return Stream.generate(() -> pd.createQueuePair(small))
        .limit(pd.context().queryDevice().maxQp() - few)
        .toList();
  }

  private static void assertArrives(TwoQueuePairs pair) {
    pair.receive(pair.right, 2, 3);
    pair.send(pair.left, 5, 4, 1000);
    assertThat(TwoQueuePairs.await(pair.left.sent, 1).getFirst().status())
        .isEqualTo(WcStatus.SUCCESS);
    assertThat(TwoQueuePairs.await(pair.right.received, 1).getFirst().bytes()).isEqualTo(1000);
    pair.assertHolds(3, 5, 1000);
  }
}
