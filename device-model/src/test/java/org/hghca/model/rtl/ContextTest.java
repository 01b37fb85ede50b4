package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.InitHca;
import org.hghca.abi.MapIcm;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.model.card.Faults;
import org.hghca.model.card.HostMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The parts of contexts that are kept on the chip, and the effect of traffic on QUERY_QP. */
class ContextTest {
  private static final int QPN = 0x15;

  private final Bench bench = new Bench();
  private final HostMemory host = new HostMemory(new Faults(), () -> {});
  private final ContextManager contexts =
      new ContextManager(HardwareProfile.R1, host, new Hazards());

  @BeforeEach
  void bringUp() {
    host.attach(bench);
    host.enable(true);
    new InitHca(Bench.QPC, 14, Bench.CQC, 13, Bench.EQC, 5, Bench.MPT, 14, Bench.MTT)
        .encode(bench.in());
    execute(HcrCommand.INIT_HCA, 0, 0);
    MapIcm.encode(bench.in(), List.of(new IcmChunk(Bench.QPC, Bench.QPC_PAGE, 4)));
    execute(HcrCommand.MAP_ICM, 1, 1);
  }

  @AfterEach
  void close() {
    bench.close();
  }

  private void execute(HcrCommand command, int opModifier, int modifier) {
    assertThat(contexts.execute(command, opModifier, modifier, 0, bench.in())).isTrue();
  }

  private OnChipQp program(QueuePairContext context) {
    context.encode(bench.in());
    execute(HcrCommand.RTR2RTS, 0, QPN);
    return contexts.queuePair(QPN);
  }

  private static QueuePairContext context() {
    return new QueuePairContext()
        .set(QueuePairContext.STATE, QpcState.RTS)
        .set(QueuePairContext.SERVICE_TYPE, 1)
        .set(QueuePairContext.MTU, 3)
        .set(QueuePairContext.RQ_ENTRY_SIZE, 8)
        .set(QueuePairContext.SQ_ENTRY_SIZE, 7)
        .set(QueuePairContext.LOCAL_QPN, QPN)
        .set(QueuePairContext.REMOTE_QPN, 3)
        .set(QueuePairContext.SMAC_HIGH, 0x1234_5678)
        .set(QueuePairContext.SMAC_LOW, 0x9abc)
        .set(QueuePairContext.DMAC_HIGH, 0x8234_5678)
        .set(QueuePairContext.DMAC_LOW, 0x9abd)
        .set(QueuePairContext.SOURCE_IP, 0x0a00_0001)
        .set(QueuePairContext.DESTINATION_IP, 0x0a00_0002)
        .set(QueuePairContext.PD, 5)
        .set(QueuePairContext.NEXT_SEND_PSN, 0x101)
        .set(QueuePairContext.LAST_ACKED_PSN, 0x100)
        .set(QueuePairContext.NEXT_RECEIVE_PSN, 0x200)
        .set(QueuePairContext.SEND_CQN, 7)
        .set(QueuePairContext.SEND_WQE_LKEY, 0x10)
        .set(QueuePairContext.SEND_WQE_LENGTH, 4096)
        .set(QueuePairContext.RECEIVE_CQN, 8)
        .set(QueuePairContext.RECEIVE_WQE_LKEY, 0x11)
        .set(QueuePairContext.RECEIVE_WQE_LENGTH, 8192);
  }

  @Test
  void allKeyFieldsAreUsed() {
    OnChipQp qp = program(context());
    assertThat(qp.programmed).isTrue();
    assertThat(List.of(qp.state, qp.service, qp.mtu)).containsExactly(3, 1, 1024);
    assertThat(List.of(qp.receiveStrideLog, qp.sendStrideLog)).containsExactly(8, 7);
    assertThat(List.of(qp.localQpn, qp.remoteQpn, qp.pd)).containsExactly(QPN, 3, 5);
    assertThat(List.of(qp.sourceMac, qp.destinationMac))
        .containsExactly(0x1234_5678_9abcL, 0x8234_5678_9abdL);
    assertThat(List.of(qp.sourceIp, qp.destinationIp)).containsExactly(0x0a00_0001, 0x0a00_0002);
    assertThat(List.of(qp.nextSendPsn, qp.oldestUnackedPsn, qp.expectedPsn))
        .containsExactly(0x101, 0x100, 0x200);
    assertThat(List.of(qp.sendCqn, qp.sendKey, qp.sendLength)).containsExactly(7, 0x10, 4096);
    assertThat(List.of(qp.receiveCqn, qp.receiveKey, qp.receiveLength))
        .containsExactly(8, 0x11, 8192);
  }

  @Test
  void numbersAliasAt8192() {
    assertThat(contexts.queuePair(0x2002)).isSameAs(contexts.queuePair(2));
    assertThat(contexts.completionQueue(0x2003)).isSameAs(contexts.completionQueue(3));
    program(context());
    context().set(QueuePairContext.PD, 6).encode(bench.in());
    execute(HcrCommand.RST2INIT, 0, 0x2000 + QPN);
    assertThat(contexts.queuePair(QPN).pd).isEqualTo(6);
  }

  @Test
  void queuePairThatWasNeverProgrammedIsReported() {
    assertThat(contexts.queuePair(9).programmed).isFalse();
  }

  @Test
  void positionsSurviveEveryCommand() {
    contexts.queuePair(QPN).receiveOffset = 0x40;
    program(context());
    program(new QueuePairContext());
    assertThat(contexts.queuePair(QPN).receiveOffset).isEqualTo(0x40);
    giveCq(6, 5);
    contexts.completionQueue(4).offset = 0x60;
    execute(HcrCommand.HW2SW_CQ, 0, 4);
    assertThat(contexts.completionQueue(4).owned).isFalse();
    giveCq(2, 6);
    OnChipCq queue = contexts.completionQueue(4);
    assertThat(queue.owned).isTrue();
    assertThat(List.of(queue.logSize, queue.pd, queue.key, queue.offset))
        .containsExactly(2, 6, 0x14, 0x60);
    contexts.reset();
    assertThat(contexts.completionQueue(4).offset).isZero();
    assertThat(contexts.queuePair(QPN).receiveOffset).isZero();
  }

  private void giveCq(int logSize, int pd) {
    new CompletionQueueContext(0, 0, logSize, 0, 0, pd, 0x14, 4).encode(bench.in());
    execute(HcrCommand.SW2HW_CQ, 0, 4);
  }

  private MemorySegment query() {
    assertThat(contexts.execute(HcrCommand.QUERY_QP, 0, QPN, 0, bench.out())).isTrue();
    return bench.out();
  }

  @Test
  void sendingChangesOtherFieldsOfTheImage() {
    OnChipQp queuePair = program(context());
    queuePair.nextSendPsn = 0x10_2030;
    queuePair.oldestUnackedPsn = 0x10_2029;
    MemorySegment image = query();
    assertThat(QueuePairContext.LOCAL_QPN.get(image)).isEqualTo(0x30);
    assertThat(QueuePairContext.WQE_BASE.get(image)).isEqualTo(0x10_2029);
    assertThat(QueuePairContext.SEND_CQN.get(image)).isEqualTo(0x10_2030);
    assertThat(QueuePairContext.STATE.get(image)).isEqualTo(3);
    assertThat(QueuePairContext.NEXT_SEND_PSN.get(image)).isEqualTo(0x101);
    assertThat(QueuePairContext.LAST_ACKED_PSN.get(image)).isEqualTo(0x100);
    assertThat(QueuePairContext.NEXT_RECEIVE_PSN.get(image)).isEqualTo(0x200);
    assertThat(QueuePairContext.QKEY.get(image)).isZero();
  }

  @Test
  void receivingChangesOtherFieldsOfTheImage() {
    OnChipQp queuePair = program(context());
    queuePair.expectedPsn = 0x201;
    MemorySegment image = query();
    assertThat(QueuePairContext.LOCAL_QPN.get(image)).isEqualTo(0x30);
    assertThat(QueuePairContext.QKEY.get(image)).isEqualTo(0x201);
    assertThat(QueuePairContext.WQE_BASE.get(image)).isZero();
    assertThat(QueuePairContext.SEND_CQN.get(image)).isEqualTo(7);
    assertThat(QueuePairContext.NEXT_RECEIVE_PSN.get(image)).isEqualTo(0x200);
  }

  @Test
  void stateThatTheCardEnteredByItselfIsOnlyInTheNumberField() {
    OnChipQp queuePair = program(context());
    queuePair.state = QpcState.ERR;
    MemorySegment image = query();
    assertThat(QueuePairContext.LOCAL_QPN.get(image)).isEqualTo(0x60);
    assertThat(QueuePairContext.STATE.get(image)).isEqualTo(QpcState.RTS);
  }

  @Test
  void nextModifyQpRestoresTheImage() {
    program(context()).nextSendPsn = 0x102;
    query();
    program(context());
    assertThat(QueuePairContext.SEND_CQN.get(query())).isEqualTo(7);
    assertThat(QueuePairContext.LOCAL_QPN.get(query())).isEqualTo(QPN);
  }
}
