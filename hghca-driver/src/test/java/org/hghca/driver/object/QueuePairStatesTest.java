package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.OptParamMask;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The effect of errors on queue pairs of each type, and the commands to the card. */
class QueuePairStatesTest {
  private final DriverFixture it = new DriverFixture();

  @AfterEach
  void close() {
    it.close();
  }

  private HghcaQueuePair create(QpType type) {
    return (HghcaQueuePair)
        it.pd.createQueuePair(QueuePairConfig.of(type, it.cq, it.cq).sendDepth(4));
  }

  private HghcaQueuePair ready(QpType type) {
    HghcaQueuePair qp = create(type);
    ConnectionOptions options = ConnectionOptions.DEFAULT;
    qp.modify(options.toInit(type));
    qp.modify(options.toRtr(type, new QpEndpoint(0, qp.number(), 7, it.context.queryGid(1, 0))));
    qp.modify(options.toRts(type, 7));
    return qp;
  }

  private QueuePairContext sent(HghcaQueuePair qp, QpAttributes attributes) {
    QueuePairContext[] last = {null};
    it.function.onCommand(
        () -> {
          MemorySegment inbox = it.function.inbox();
          if (inbox.byteSize() > 0) {
            last[0] = QueuePairContext.decode(inbox);
          }
        });
    qp.modify(attributes);
    it.function.onCommand(() -> {});
    return last[0];
  }

  @ParameterizedTest
  @EnumSource
  void errorOfAReceiveLeadsToErr(QpType type) {
    try (HghcaQueuePair qp = ready(type)) {
      qp.stateFlow().reported(false, WcStatus.LOC_LEN_ERR);
      assertThat(qp.state()).isEqualTo(QpState.ERR);
    }
  }

  @Test
  void errorOfAReliableSendLeadsToErr() {
    try (HghcaQueuePair qp = ready(QpType.RC)) {
      qp.stateFlow().reported(true, WcStatus.REM_ACCESS_ERR);
      assertThat(qp.state()).isEqualTo(QpState.ERR);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"UC", "UD"})
  void errorOfAnUnreliableSendStopsTheSendQueue(QpType type) {
    try (HghcaQueuePair qp = ready(type)) {
      qp.stateFlow().reported(true, WcStatus.LOC_PROT_ERR);
      assertThat(qp.state()).isEqualTo(QpState.SQE);
      qp.stateFlow().reported(true, WcStatus.WR_FLUSH_ERR);
      assertThat(qp.state()).isEqualTo(QpState.SQE);
      qp.stateFlow().reported(false, WcStatus.LOC_PROT_ERR);
      assertThat(qp.state()).isEqualTo(QpState.ERR);
      qp.stateFlow().reported(true, WcStatus.LOC_PROT_ERR);
      assertThat(qp.state()).isEqualTo(QpState.ERR);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"UC", "UD"})
  void flushedSendPolledAfterTheRecoveryChangesNothing(QpType type) {
    try (HghcaQueuePair qp = ready(type)) {
      qp.stateFlow().reported(true, WcStatus.WR_FLUSH_ERR);
      assertThat(qp.state()).isEqualTo(QpState.RTS);
    }
  }

  @Test
  void queryTakesPrecedenceOverAnErrorPolledAfterTheRecovery() {
    try (HghcaQueuePair qp = ready(QpType.UD)) {
      qp.stateFlow().reported(true, WcStatus.LOC_LEN_ERR); // the card reports RTS
      assertThat(qp.state()).isEqualTo(QpState.SQE);
      assertThat(qp.query().state()).isEqualTo(QpState.RTS);
      assertThat(qp.state()).isEqualTo(QpState.RTS);
    }
  }

  @ParameterizedTest
  @EnumSource
  void strayErrorDoesNotChangeAQueuePairInReset(QpType type) {
    try (HghcaQueuePair qp = create(type)) {
      qp.stateFlow().reported(true, WcStatus.LOC_LEN_ERR);
      qp.stateFlow().reported(false, WcStatus.LOC_LEN_ERR);
      assertThat(qp.state()).isEqualTo(QpState.RESET);
    }
  }

  @Test
  void datagramsHaveThePortMtuAndNoPath() {
    try (HghcaQueuePair qp = create(QpType.UD)) {
      QueuePairContext init =
          sent(qp, QpAttributes.to(QpState.INIT).pkeyIndex(0).port(1).qkey(0x8765_4321));
      assertThat(init.get(QueuePairContext.SERVICE_TYPE)).isEqualTo(QpcServiceType.UD);
      assertThat(init.get(QueuePairContext.MTU))
          .isEqualTo(it.context.queryPort(1).activeMtu().code());
      assertThat(init.get(QueuePairContext.QKEY)).isEqualTo(0x8765_4321);
      assertThat(init.get(QueuePairContext.REMOTE_QPN)).isZero();
      assertThat(init.get(QueuePairContext.OPT_PARAM_MASK))
          .isEqualTo(
              OptParamMask.STATE | OptParamMask.PKEY_INDEX | OptParamMask.PORT | OptParamMask.QKEY);
      qp.modify(QpAttributes.to(QpState.RTR));
      QueuePairContext rts = sent(qp, QpAttributes.to(QpState.RTS).sendPsn(0x45));
      assertThat(rts.get(QueuePairContext.STATE)).isEqualTo(QpcState.RTS);
      assertThat(rts.get(QueuePairContext.NEXT_SEND_PSN)).isEqualTo(0x45);
      QpAttributes now = qp.query();
      assertThat(now.qkey()).isEqualTo(0x8765_4321);
      assertThat(now.sendPsn()).isEqualTo(0x45);
      assertThat(now.addressVector().isGlobal()).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource
  void resetQueuePairAnswersAQuery(QpType type) {
    try (HghcaQueuePair qp = create(type)) {
      assertThat(qp.query().state()).isEqualTo(QpState.RESET);
    }
  }

  @Test
  void drainedNotificationIsABitOfTheMask() {
    try (HghcaQueuePair qp = ready(QpType.RC)) {
      QueuePairContext without = sent(qp, QpAttributes.to(QpState.SQD).sqdNotify(false));
      assertThat(without.get(QueuePairContext.OPT_PARAM_MASK)).isEqualTo(OptParamMask.STATE);
      qp.modify(QpAttributes.to(QpState.RTS));
      QueuePairContext with = sent(qp, QpAttributes.to(QpState.SQD).sqdNotify(true));
      assertThat(with.get(QueuePairContext.OPT_PARAM_MASK))
          .isEqualTo(OptParamMask.STATE | OptParamMask.EN_SQD_ASYNC_NOTIFY);
    }
  }

  @Test
  void atomicsOfAPeerAreEnabledSeparately() {
    try (HghcaQueuePair qp = create(QpType.RC)) {
      QueuePairContext init =
          sent(
              qp,
              QpAttributes.to(QpState.INIT).pkeyIndex(0).port(1).access(AccessFlag.REMOTE_ATOMIC));
      assertThat(init.get(QueuePairContext.REMOTE_ATOMIC_ENABLE)).isOne();
      assertThat(init.get(QueuePairContext.REMOTE_READ_ENABLE)).isZero();
      assertThat(init.get(QueuePairContext.REMOTE_WRITE_ENABLE)).isZero();
      assertThat(qp.query().access()).containsExactly(AccessFlag.REMOTE_ATOMIC);
    }
  }

  @Test
  void deviceReportsAtomics() {
    assertThat(it.context.queryDevice().atomics()).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void everyTransitionHasACommandOfItsOwn(QpType type) {
    ConnectionOptions options = ConnectionOptions.DEFAULT;
    try (HghcaQueuePair qp = create(type)) {
      QpEndpoint peer = new QpEndpoint(0, qp.number(), 7, it.context.queryGid(1, 0));
      assertThat(opcode(qp, options.toInit(type))).isEqualTo(0x19);
      assertThat(opcode(qp, options.toInit(type))).isEqualTo(0x2d);
      assertThat(opcode(qp, options.toRtr(type, peer))).isEqualTo(0x1a);
      assertThat(opcode(qp, options.toRts(type, 7))).isEqualTo(0x1b);
      assertThat(opcode(qp, QpAttributes.to(QpState.RTS))).isEqualTo(0x1c);
      assertThat(opcode(qp, QpAttributes.to(QpState.SQD))).isEqualTo(0x1f);
      assertThat(opcode(qp, QpAttributes.to(QpState.SQD).pkeyIndex(0))).isEqualTo(0x38);
      assertThat(opcode(qp, QpAttributes.to(QpState.RTS))).isEqualTo(0x20);
      assertThat(opcode(qp, QpAttributes.to(QpState.ERR))).isEqualTo(0x1e);
      assertThat(opcode(qp, QpAttributes.to(QpState.ERR))).isEqualTo(0x1e);
      assertThat(opcode(qp, QpAttributes.to(QpState.RESET))).isEqualTo(0x21);
    }
  }

  /** The opcode of the last command of a modify. */
  private int opcode(HghcaQueuePair qp, QpAttributes attributes) {
    qp.modify(attributes);
    return it.function.opcode();
  }

  @ParameterizedTest
  @EnumSource(names = {"UC", "UD"})
  void recoveryOfASendQueueHasItsOwnCommand(QpType type) {
    try (HghcaQueuePair qp = ready(type)) {
      qp.stateFlow().reported(true, WcStatus.LOC_PROT_ERR);
      // The card has detected no error and refuses.
      assertThatThrownBy(() -> qp.modify(QpAttributes.to(QpState.RTS)))
          .hasMessageContaining("SQERR2RTS");
      assertThat(it.function.opcode()).isEqualTo(0x1d);
      assertThat(qp.state()).isEqualTo(QpState.SQE);
    }
  }

  @Test
  void queuePairsOfEveryTypeAreCreatedUsedAndClosed() {
    for (QpType type : QpType.values()) {
      HghcaQueuePair qp = ready(type);
      assertThat(qp.query().state()).isEqualTo(QpState.RTS);
      if (type == QpType.UC) {
        AddressVector path = qp.query().addressVector();
        assertThat(path.destination()).isEqualTo(it.context.queryGid(1, 0));
      }
      qp.modify(QpAttributes.to(QpState.ERR));
      qp.modify(QpAttributes.to(QpState.RESET));
      assertThatCode(qp::close).doesNotThrowAnyException();
    }
  }
}
