package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.driver.object.MaintainedCard.MS;
import static org.hghca.driver.object.MaintainedCard.TIME_OUT;

import java.time.Duration;
import java.util.stream.Stream;
import org.hghca.driver.rtl.recovery.StateFlowBySoftware;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A request's time-out begins when its doorbell is rung, not while it is held back. */
class HeldTimeOutTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final long STEP = 10 * MS;
  private static final int NO_TIME_OUT = 0;

  /** The reason why a request is held back. */
  enum Hold {
    A_FENCE("&outstanding=8"),
    THE_ONE_BEFORE(""),
    THE_CARD("&outstanding=8");

    private final String parameters;

    Hold(String parameters) {
      this.parameters = parameters;
    }
  }

  /** The thread that finds the awaited completion. */
  enum Finder {
    POLL,
    EVENT_THREAD,
    MAINTENANCE
  }

  private long now;

  static Stream<Arguments> all() {
    return Stream.of(Hold.values())
        .flatMap(hold -> Stream.of(Finder.values()).map(finder -> Arguments.of(hold, finder)));
  }

  @ParameterizedTest
  @MethodSource("all")
  void timeOutBeginsAtTheDoorbell(Hold hold, Finder finder) {
    try (MaintainedCard card = new MaintainedCard(hold.parameters)) {
      card.hca.stallAfter(0);
      HghcaQueuePair qp = hold(hold, card);
      assertThat(StateFlowBySoftware.of(qp).sends().holds()).isTrue();
      // Those of the others have no time-out; a request of the ring itself must not have one yet.
      pass(card, hold == Hold.THE_CARD ? 3 * TIME_OUT : TIME_OUT * 8 / 10);
      assertThat(qp.state()).isEqualTo(QpState.RTS);
      assertThat(StateFlowBySoftware.of(qp).sends().holds()).isTrue();

      long doorbells = qp.sends().doorbells();
      release(card, finder, qp);
      assertThat(qp.sends().doorbells()).isEqualTo(doorbells + 1);
      assertThat(StateFlowBySoftware.of(qp).sends().holds()).isFalse();
      long rung = now;
      pass(card, TIME_OUT * 8 / 10);
      assertThat(qp.state()).as("it has the whole time").isEqualTo(QpState.RTS);

      for (int i = 0; i < 100 && qp.state() == QpState.RTS; i++) {
        pass(card, STEP);
      }
      assertThat(qp.state()).as("nothing else extends it").isEqualTo(QpState.ERR);
      assertThat(now - rung).isBetween(TIME_OUT, TIME_OUT + 5 * STEP);
    }
  }

  /** Posts requests that hold back the last request of a queue pair; the card sends nothing yet. */
  private static HghcaQueuePair hold(Hold hold, MaintainedCard card) {
    SendRequest held = card.write(8).signaled();
    if (hold == Hold.THE_CARD) {
      fillCard(card);
    }
    HghcaQueuePair qp = queuePair(card);
    card.connect(qp, qp.number());
    if (hold != Hold.THE_CARD) {
      qp.postSend(hold == Hold.A_FENCE ? card.read(8) : card.write(8));
    }
    qp.postSend(hold == Hold.A_FENCE ? held.fence() : held);
    return qp;
  }

  /** Has as many requests in flight as the card may have, 40. */
  private static void fillCard(MaintainedCard card) {
    for (int i = 0; i < 5; i++) {
      HghcaQueuePair filler = queuePair(card);
      card.connect(filler, filler.number(), NO_TIME_OUT);
      for (int request = 0; request < 8; request++) {
        filler.postSend(card.write(8));
      }
      assertThat(StateFlowBySoftware.of(filler).sends().holds()).isFalse();
    }
  }

  private static HghcaQueuePair queuePair(MaintainedCard card) {
    return card.queuePair(QueuePairConfig.rc(card.cq, card.cq).sendDepth(8).receiveDepth(4));
  }

  /** Completes one unsignaled request of all, and makes the driver find it. */
  private void release(MaintainedCard card, Finder finder, HghcaQueuePair qp) {
    if (finder == Finder.EVENT_THREAD) {
      card.cq.requestNotify(false);
    }
    card.hca.stallAfter(1);
    switch (finder) {
      case POLL -> assertThat(card.poll()).isEmpty();
      case EVENT_THREAD -> awaitDoorbell(qp);
      case MAINTENANCE -> card.maintenance.look(now);
    }
  }

  private static void awaitDoorbell(HghcaQueuePair qp) {
    long before = qp.sends().doorbells();
    long start = System.nanoTime();
    while ((qp.sends().doorbells() == before || StateFlowBySoftware.of(qp).sends().holds())
        && System.nanoTime() - start < LIMIT.toNanos()) {
      Thread.onSpinWait();
    }
  }

  /** Runs the checks every 10 ms for some time. */
  private void pass(MaintainedCard card, long time) {
    for (long end = now + time; now < end; ) {
      now += STEP;
      card.maintenance.look(now);
    }
  }
}
