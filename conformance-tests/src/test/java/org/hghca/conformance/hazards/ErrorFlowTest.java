package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.LongStream;
import org.hghca.conformance.hazards.TwoQueuePairs.Done;
import org.hghca.driver.HghcaContext;
import org.hghca.driver.RetiredNumbers;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The driver completes, in order, what the first RTL leaves outstanding, and no thread waits
 * indefinitely.
 */
class ErrorFlowTest {
  private static final int NO_TIME_OUT = 0;

  /** 8 us; the driver checks every 10 ms. */
  private static final int SHORT = 1;

  private final OneCard card = OneCard.r1();
  private final TwoQueuePairs pair = new TwoQueuePairs(card.context, 64);

  @AfterEach
  void close() {
    pair.close();
    card.close();
  }

  private static List<Long> ids(List<Done> done) {
    return done.stream().map(Done::wrId).toList();
  }

  private static List<Long> range(int from, int to) {
    return LongStream.range(from, to).boxed().toList();
  }

  @Test
  @Tag("hazard-12.5")
  void messageWithoutAReceiveTimesOut() {
    pair.connect(100, 200, SHORT);
    pair.send(pair.left, 1, 0, 64);
    Done done = TwoQueuePairs.await(pair.left.sent, 1).getFirst();
    assertThat(done.wrId()).isEqualTo(1);
    assertThat(done.status()).isEqualTo(WcStatus.RNR_RETRY_EXC_ERR);
    assertThat(done.vendorError()).as("detected by the driver").isEqualTo(0x100);
    assertThat(pair.left.qp.state()).isEqualTo(QpState.ERR);
  }

  @Test
  @Tag("hazard-5.4")
  void requestsOutstandingAtErrAreFlushedInOrder() {
    pair.connect(100, 200, NO_TIME_OUT);
    for (int i = 0; i < 5; i++) {
      pair.receive(pair.left, 10 + i, i);
    }
    pair.send(pair.left, 1, 8, 64); // finds no receive: no progress
    pair.left.qp.modify(QpAttributes.to(QpState.ERR));
    pair.send(pair.left, 2, 8, 64);
    pair.receive(pair.left, 15, 5);
    List<Done> sends = TwoQueuePairs.await(pair.left.sent, 2);
    assertThat(ids(sends)).isEqualTo(range(1, 3));
    assertThat(sends).allMatch(done -> done.status() == WcStatus.WR_FLUSH_ERR);
    List<Done> receives = TwoQueuePairs.await(pair.left.received, 6);
    assertThat(ids(receives)).isEqualTo(range(10, 16));
    assertThat(receives).allMatch(done -> done.status() == WcStatus.WR_FLUSH_ERR);
    card.assertOnlyHazards("12.5");
    RetiredNumbers before = ((HghcaContext) card.context).card().retired();
    assertThat(before.lateCompletions()).as("the card flushed by itself").isZero();
    pair.left.qp.close();
    pair.right.qp.close();
    RetiredNumbers retired = ((HghcaContext) card.context).card().retired();
    assertThat(retired.queuePairs()).as("only the one that had no receive").isEqualTo(1);
  }

  @Test
  @Tag("hazard-9")
  void sendsBehindAFailedOneAndReceivesAreFlushed() {
    pair.connect(100, 200, SHORT);
    pair.receive(pair.left, 10, 0);
    for (int i = 0; i < 4; i++) {
      pair.send(pair.left, i, 8, 64);
    }
    List<Done> sends = TwoQueuePairs.await(pair.left.sent, 4);
    assertThat(ids(sends)).isEqualTo(range(0, 4));
    assertThat(sends.getFirst().status()).isNotEqualTo(WcStatus.SUCCESS);
    assertThat(sends.subList(1, 4)).allMatch(done -> done.status() == WcStatus.WR_FLUSH_ERR);
    assertThat(TwoQueuePairs.await(pair.left.received, 1).getFirst().status())
        .isEqualTo(WcStatus.WR_FLUSH_ERR);
  }

  @Test
  @Tag("hazard-6.6")
  void resetQueuePairContinuesAtTheCardsRingPosition() {
    int messages = 3;
    for (int life = 0; life < 12; life++) {
      pair.connect(100 * life, 70 * life, NO_TIME_OUT);
      for (int i = 0; i < messages + 2; i++) {
        pair.receive(pair.right, 20 + i, 16 + i);
      }
      for (int i = 0; i < messages; i++) {
        pair.send(pair.left, 10 * life + i, i, 100);
      }
      assertThat(ids(TwoQueuePairs.await(pair.right.received, messages)))
          .isEqualTo(range(20, 20 + messages));
      for (int i = 0; i < messages; i++) {
        pair.assertHolds(16 + i, 10 * life + i, 100);
      }
      TwoQueuePairs.await(pair.left.sent, messages);
      pair.left.qp.modify(QpAttributes.to(QpState.RESET));
      pair.right.qp.modify(QpAttributes.to(QpState.RESET));
    }
    card.assertUnharmed();
  }

  @Test
  @Tag("hazard-12.5")
  void resetAfterAMessageWithoutAReceiveFailsWithEio() {
    pair.connect(100, 200, SHORT);
    pair.send(pair.left, 1, 0, 64);
    TwoQueuePairs.await(pair.left.sent, 1);
    assertThatThrownBy(() -> pair.right.qp.modify(QpAttributes.to(QpState.RESET)))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO))
        .hasMessageContaining("create another");
    assertThat(pair.right.qp.state()).isEqualTo(QpState.ERR);
  }
}
