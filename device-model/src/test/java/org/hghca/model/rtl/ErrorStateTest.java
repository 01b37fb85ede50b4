package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.TestPair.QPN;
import static org.hghca.model.rtl.TestPair.data;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** MODIFY_QP to ERR and RESET while packets of the queue pair are in flight. */
class ErrorStateTest {
  private static final int WRITE = 0x08;

  private final TestPair pair = new TestPair(QpcServiceType.RC);

  /** MODIFY_QP with the current PSNs, or with the initial ones. */
  private void modify(int state, boolean rewound) {
    OnChipQp qp = pair.a.queuePair(QPN);
    MemorySegment mailbox = Arena.ofAuto().allocate(256, 64);
    QueuePairContext.STATE.set(mailbox, state);
    QueuePairContext.MTU.set(mailbox, 1);
    QueuePairContext.REMOTE_QPN.set(mailbox, QPN);
    QueuePairContext.DMAC_LOW.set(mailbox, (int) TestPair.B & 0xffff);
    QueuePairContext.DMAC_HIGH.set(mailbox, (int) (TestPair.B >>> 16));
    QueuePairContext.PD.set(mailbox, TestCard.PD);
    QueuePairContext.NEXT_SEND_PSN.set(mailbox, rewound ? 0x100 : qp.nextSendPsn);
    QueuePairContext.LAST_ACKED_PSN.set(mailbox, rewound ? 0x100 : qp.oldestUnackedPsn);
    QueuePairContext.SEND_CQN.set(mailbox, QPN);
    QueuePairContext.SEND_WQE_LKEY.set(mailbox, TestCard.SQ + QPN);
    QueuePairContext.SEND_WQE_LENGTH.set(mailbox, TestCard.QUEUE);
    qp.program(mailbox);
  }

  private void write(int length) {
    pair.a.queuePair(QPN).mtu = 256;
    pair.b.queuePair(QPN).mtu = 256;
    pair.a.put(0, "x".repeat(length));
    pair.a.post(QPN, WRITE, data(0x8000, length), data(0, length));
  }

  @ParameterizedTest
  @ValueSource(ints = {QpcState.ERR, QpcState.RST})
  void errDuringAPartlyAcknowledgedMessageStopsTheSendSide(int state) {
    pair.a.engine.stallAfter(5);
    write(4096);
    pair.run();
    assertThat(pair.a.queuePair(QPN).oldestUnackedPsn).isEqualTo(0x105);

    modify(state, false);
    pair.a.engine.stallAfter(-1);
    pair.run();

    assertThat(pair.a.sends(QPN)).isEmpty();
    assertThat(pair.b.text(0x8000, 1281)).isEqualTo("x".repeat(1280) + "\0");
    assertThat(pair.passes(pair.a, pair.b)).isFalse();
    assertThat(pair.passes(pair.b, pair.a)).isTrue();
    assertThat(pair.a.hazards.list()).singleElement().asString().startsWith("12.17: ");
  }

  @Test
  void errDuringAnUnacknowledgedMessageIsTooLate() {
    pair.a.engine.stallAfter(5);
    write(4096);
    pair.a.engine.step(0, 256);
    modify(QpcState.ERR, true);
    pair.a.engine.stallAfter(-1);
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly("08010000 00");
    assertThat(pair.b.text(0x8000, 4096)).isEqualTo("x".repeat(4096));
    assertThat(pair.bothPass()).isTrue();
    assertThat(pair.a.hazards.list()).isEmpty();
  }

  @Test
  void errAfterAllPacketsHaveLeftDoesNoHarm() {
    write(4096);
    pair.a.engine.step(0, 256);
    modify(QpcState.ERR, false);
    pair.run();

    assertThat(pair.a.sends(QPN)).containsExactly("08010000 00");
    assertThat(pair.bothPass()).isTrue();
    assertThat(pair.a.hazards.list()).isEmpty();
  }

  @Test
  void stallDelaysOnlyRequests() {
    pair.a.engine.stallAfter(0);
    write(8);
    pair.run();
    assertThat(pair.packets).isEmpty();
    assertThat(pair.passes(pair.b, pair.a)).isTrue();

    pair.a.engine.stallAfter(-1);
    pair.run();
    assertThat(pair.a.sends(QPN)).containsExactly("08010000 00");
  }
}
