package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.util.List;
import org.hghca.conformance.hazards.TwoQueuePairs.Done;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The second RTL reports no error, does not flush and checks no state: the driver does all of this.
 */
class R2ErrorFlowTest {
  private static final int RING = 64;
  private static final int NO_TIME_OUT = 0;

  /** 8 us; the driver checks every 10 ms. */
  private static final int SHORT = 1;

  private static OneCard card(long seed) {
    return new OneCard("r2", "&seed=" + seed);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  @Tag("hazard-9")
  void messageWithoutAReceiveTimesOutAndLaterOnesAreFlushed(long seed) {
    try (OneCard card = card(seed)) {
      try (TwoQueuePairs pair = new TwoQueuePairs(card.context, RING)) {
        pair.connect(0, 0, SHORT);
        pair.receive(pair.left, 7, 0);
        pair.send(pair.left, 1, 1, 64);
        pair.send(pair.left, 2, 1, 64);
        List<Done> sends = TwoQueuePairs.await(pair.left.sent, 2);
        assertThat(sends).extracting(Done::wrId).containsExactly(1L, 2L);
        assertThat(sends)
            .extracting(Done::status)
            .containsExactly(WcStatus.RNR_RETRY_EXC_ERR, WcStatus.WR_FLUSH_ERR);
        assertThat(pair.left.qp.state()).isEqualTo(QpState.ERR);
        assertThat(TwoQueuePairs.await(pair.left.received, 1))
            .extracting(Done::status)
            .containsExactly(WcStatus.WR_FLUSH_ERR);
      }
      assertNextPairWorks(card);
      card.assertOnlyHazards("12.5");
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  @Tag("hazard-5.4")
  void requestsPostedAtErrAndInErrAreFlushedInOrder(long seed) {
    try (OneCard card = card(seed)) {
      try (TwoQueuePairs pair = new TwoQueuePairs(card.context, RING)) {
        pair.connect(0, 0, NO_TIME_OUT);
        pair.receive(pair.left, 10, 0);
        pair.receive(pair.left, 11, 1);
        pair.send(pair.left, 1, 2, 64);
        pair.left.qp.modify(QpAttributes.to(QpState.ERR));
        pair.send(pair.left, 2, 2, 64);
        pair.receive(pair.left, 12, 3);
        assertThat(TwoQueuePairs.await(pair.left.received, 3))
            .extracting(Done::wrId)
            .containsExactly(10L, 11L, 12L);
        List<Done> sends = TwoQueuePairs.await(pair.left.sent, 2);
        assertThat(sends).extracting(Done::wrId).containsExactly(1L, 2L);
        assertThat(sends).allMatch(done -> done.status() == WcStatus.WR_FLUSH_ERR);
        pair.send(pair.right, 3, 4, 64); // the card would still execute it
        assertThat(TwoQueuePairs.poll(pair.left.received, 4)).isEmpty();
      }
      assertNextPairWorks(card);
      card.assertOnlyHazards("12.5");
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  @Tag("hazard-6.6")
  void requestsOutstandingAtCloseDoNoHarmLater(long seed) {
    try (OneCard card = card(seed)) {
      try (TwoQueuePairs pair = new TwoQueuePairs(card.context, RING)) {
        pair.connect(0, 0, NO_TIME_OUT);
        pair.receive(pair.left, 10, 0);
        pair.send(pair.left, 1, 2, 64);
      }
      for (int i = 0; i < 3; i++) {
        assertNextPairWorks(card);
      }
      card.assertOnlyHazards("12.5");
    }
  }

  private static void assertNextPairWorks(OneCard card) {
    try (TwoQueuePairs pair = new TwoQueuePairs(card.context, RING)) {
      pair.connect(0, 0, NO_TIME_OUT);
      pair.receive(pair.right, 8, 3);
      pair.send(pair.left, 9, 4, 500);
      assertThat(TwoQueuePairs.await(pair.right.received, 1))
          .extracting(Done::wrId, Done::status)
          .containsExactly(tuple(8L, WcStatus.SUCCESS));
      pair.assertHolds(3, 9, 500);
      assertThat(TwoQueuePairs.await(pair.left.sent, 1))
          .extracting(Done::status)
          .containsExactly(WcStatus.SUCCESS);
    }
  }
}
