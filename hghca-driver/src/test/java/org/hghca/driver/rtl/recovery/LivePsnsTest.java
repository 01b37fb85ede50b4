package org.hghca.driver.rtl.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.abi.QueuePairContext.LAST_ACKED_PSN;
import static org.hghca.abi.QueuePairContext.LOCAL_QPN;
import static org.hghca.abi.QueuePairContext.NEXT_RECEIVE_PSN;
import static org.hghca.abi.QueuePairContext.NEXT_SEND_PSN;
import static org.hghca.abi.QueuePairContext.QKEY;
import static org.hghca.abi.QueuePairContext.SEND_CQN;
import static org.hghca.abi.QueuePairContext.STATE;
import static org.hghca.abi.QueuePairContext.WQE_BASE;

import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LivePsnsTest {
  private static final int CQN = 1;

  private final QueuePairContext programmed = programmed(0x02);

  private static QueuePairContext programmed(int qpn) {
    return new QueuePairContext()
        .set(STATE, QpcState.RTS)
        .set(LOCAL_QPN, qpn)
        .set(SEND_CQN, CQN)
        .set(NEXT_SEND_PSN, 0x100)
        .set(LAST_ACKED_PSN, 0x100)
        .set(NEXT_RECEIVE_PSN, 0x200);
  }

  /** The answer of QUERY_QP right after MODIFY_QP. */
  private final QueuePairContext answer = LivePsns.marked(programmed);

  @Test
  void withoutTrafficEverythingIsAsSet() {
    assertThat(LivePsns.of(answer, programmed, false))
        .isEqualTo(new LivePsns(0x100, 0x100, 0x200, QpcState.RTS));
  }

  @Test
  void senderHasItsPsnsInsteadOfTheQueueBaseAndTheCqn() {
    answer.set(LOCAL_QPN, 0x30).set(WQE_BASE, 0x104).set(SEND_CQN, 0x107);

    assertThat(LivePsns.of(answer, programmed, true))
        .isEqualTo(new LivePsns(0x107, 0x104, 0x200, QpcState.RTS));
  }

  @Test
  void receiverHasItsPsnInsteadOfTheQkey() {
    answer.set(LOCAL_QPN, 0x30).set(QKEY, 0x233);

    assertThat(LivePsns.of(answer, programmed, false))
        .isEqualTo(new LivePsns(0x100, 0x100, 0x233, QpcState.RTS));
  }

  @Test
  void senderWithoutAnAcknowledgementHasAdvancedToo() {
    answer.set(LOCAL_QPN, 0x30).set(SEND_CQN, 0x101);

    LivePsns live = LivePsns.of(answer, programmed, true);

    assertThat(live.nextSend()).isEqualTo(0x101);
    assertThat(live.oldestUnacked()).isEqualTo(0x100);
  }

  @Test
  void psnEqualToTheCqnCountsWhenADoorbellWasRung() {
    programmed.set(NEXT_SEND_PSN, 0).set(LAST_ACKED_PSN, 0);

    assertThat(LivePsns.of(answer, programmed, true).nextSend()).isEqualTo(CQN);
    assertThat(LivePsns.of(answer, programmed, false).nextSend()).isZero();
  }

  @Test
  void doorbellThatTheCardHasNotProcessedChangesNothing() {
    LivePsns live = LivePsns.of(answer, programmed, true);

    assertThat(live.nextSend()).as("and not the number of the completion queue").isEqualTo(0x100);
    assertThat(live.oldestUnacked()).isEqualTo(0x100);
  }

  @Test
  void psn0IsAPsn() {
    answer.set(WQE_BASE, 0).set(SEND_CQN, 0).set(QKEY, 0);

    LivePsns live = LivePsns.of(answer, programmed, true);

    assertThat(live.nextSend()).isZero();
    assertThat(live.oldestUnacked()).isZero();
    assertThat(live.expected()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "0x02, 0x60, 6", // the card went to ERR by itself
    "0x02, 0x30, 3",
    "0x02, 0x02, 3", // nothing was written
    "0x170, 0x170, 3", // no state
    "0x130, 0x130, 3", // either way
    "0x160, 0x160, -1", // ERR, or the number
    "0x160, 0x30, 3"
  })
  void stateIsInTheLowByteOfTheNumber(String qpn, String shown, int state) {
    QueuePairContext given = programmed(Integer.decode(qpn));
    QueuePairContext seen = LivePsns.marked(given).set(LOCAL_QPN, Integer.decode(shown));

    assertThat(LivePsns.of(seen, given, false).state()).isEqualTo(state);
  }

  @Test
  void nextContextContinuesAtTheCardsPosition() {
    QueuePairContext next = programmed.copy();

    new LivePsns(0x107, 0x104, 0x233, QpcState.RTS).putInto(next);

    assertThat(next.get(NEXT_SEND_PSN)).isEqualTo(0x107);
    assertThat(next.get(LAST_ACKED_PSN)).isEqualTo(0x104);
    assertThat(next.get(NEXT_RECEIVE_PSN)).isEqualTo(0x233);
    assertThat(next.get(QKEY)).isZero();
  }
}
