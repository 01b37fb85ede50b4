package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** State SQE: a failed unreliable send stops the send queue, and nothing else. */
@Needs(Feature.SQE)
class SendQueueErrorTest {
  private static final int QKEY = 0x1111_1111;

  /** A pair of a type, whose left queue pair can be made to fail. */
  private static final class Failing implements AutoCloseable {
    final RcPair pair;
    private final AddressHandle toRight;
    private final AddressHandle toLeft;

    Failing(QpType type) {
      pair = new RcSetup().type(type).open();
      toRight = handle(pair.left, pair.right);
      toLeft = handle(pair.right, pair.left);
    }

    private static AddressHandle handle(Side from, Side to) {
      return from.pd.createAddressHandle(AddressVector.to(to.context.queryGid(1, 0), 0));
    }

    SendRequest fromLeft(long wrId) {
      int qpn = pair.right.qp.number();
      return pair.left.send.wrId(wrId).send().to(toRight, qpn, QKEY).signaled();
    }

    SendRequest fromRight(long wrId) {
      int qpn = pair.left.qp.number();
      return pair.right.send.wrId(wrId).send().to(toLeft, qpn, QKEY).signaled();
    }

    /** One request fails, and two behind it are flushed. */
    void fail() {
      Side left = pair.left;
      left.qp.postSend(fromLeft(1).sge(left.address(0), 8, left.buffer.lkey() ^ 1 << 24));
      left.qp.postSend(fromLeft(2).sge(left.buffer, 0, 8));
      left.qp.postSend(fromLeft(3).sge(left.buffer, 0, 8));
      List<Wc> found = left.sent(3);
      assertThat(found).extracting(Wc::wrId).containsExactly(1L, 2L, 3L);
      assertThat(found)
          .extracting(Wc::status)
          .containsExactly(WcStatus.LOC_PROT_ERR, WcStatus.WR_FLUSH_ERR, WcStatus.WR_FLUSH_ERR);
      assertThat(left.qp.state()).isEqualTo(QpState.SQE);
      assertThat(left.qp.query().state()).isEqualTo(QpState.SQE);
    }

    void assertSends(long wrId) {
      pair.right.postReceive(wrId, 0, 100);
      pair.left.qp.postSend(fromLeft(wrId).sge(pair.left.buffer, 0, 8));
      Side.assertSuccess(pair.left.sent());
      Wc received = pair.right.received();
      Side.assertSuccess(received);
      assertThat(received.wrId()).isEqualTo(wrId);
    }

    void assertReceives(long wrId) {
      pair.left.postReceive(wrId, 0, 100);
      pair.right.qp.postSend(fromRight(wrId).sge(pair.right.buffer, 0, 8));
      Wc received = pair.left.received();
      Side.assertSuccess(received);
      assertThat(received.wrId()).isEqualTo(wrId);
      Side.assertSuccess(pair.right.sent());
    }

    @Override
    public void close() {
      toLeft.close();
      toRight.close();
      pair.close();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = QpType.class,
      names = {"UC", "UD"})
  void receivesContinueInSqe(QpType type) {
    try (Failing it = new Failing(type)) {
      it.pair.left.postReceive(10, 0, 100);
      it.fail();
      it.pair.right.qp.postSend(it.fromRight(11).sge(it.pair.right.buffer, 0, 8));
      Wc received = it.pair.left.received();
      Side.assertSuccess(received);
      assertThat(received.wrId()).isEqualTo(10);
      Side.assertSuccess(it.pair.right.sent());
      it.assertReceives(12);
      assertThat(it.pair.left.qp.query().state()).isEqualTo(QpState.SQE);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = QpType.class,
      names = {"UC", "UD"})
  void sendsInSqeAreAcceptedAndFlushed(QpType type) {
    try (Failing it = new Failing(type)) {
      it.fail();
      it.pair.left.qp.postSend(it.fromLeft(4).sge(it.pair.left.buffer, 0, 8));
      Wc found = it.pair.left.sent();
      assertThat(found.wrId()).isEqualTo(4);
      assertThat(found.status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
      assertThat(it.pair.left.qp.query().state()).isEqualTo(QpState.SQE);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = QpType.class,
      names = {"UC", "UD"})
  void queuePairRecoversRepeatedly(QpType type) {
    try (Failing it = new Failing(type)) {
      for (int i = 0; i < 20; i++) {
        it.fail();
        it.pair.left.qp.modify(QpAttributes.to(QpState.RTS).currentState(QpState.SQE));
        assertThat(it.pair.left.qp.state()).isEqualTo(QpState.RTS);
        assertThat(it.pair.left.qp.query().state()).isEqualTo(QpState.RTS);
        it.assertSends(20);
        it.assertReceives(21);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = QpType.class,
      names = {"UC", "UD"})
  void errorsPolledAfterTheRecoveryLeaveItInRts(QpType type) {
    try (Failing it = new Failing(type)) {
      Side left = it.pair.left;
      left.qp.postSend(it.fromLeft(1).sge(left.address(0), 8, left.buffer.lkey() ^ 1 << 24));
      left.qp.postSend(it.fromLeft(2).sge(left.buffer, 0, 8));
      it.pair.fabric.await(
          () -> left.qp.query().state() == QpState.SQE, () -> "the send has not failed");
      left.qp.modify(QpAttributes.to(QpState.RTS));
      List<Wc> found = left.sent(2);
      assertThat(found)
          .extracting(Wc::status)
          .containsExactly(WcStatus.LOC_PROT_ERR, WcStatus.WR_FLUSH_ERR);
      assertThat(left.qp.query().state()).isEqualTo(QpState.RTS);
      assertThat(left.qp.state()).isEqualTo(QpState.RTS);
      it.assertSends(3);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = QpType.class,
      names = {"UC", "UD"})
  void knownErrorCanBeRecoveredBeforeItIsPolled(QpType type) {
    try (Failing it = new Failing(type)) {
      Side left = it.pair.left;
      left.qp.postSend(it.fromLeft(1).sge(left.address(0), 8, left.buffer.lkey() ^ 1 << 24));
      it.pair.fabric.await(() -> recovers(left), () -> "the send has not failed");
      assertThat(left.sent().status()).isEqualTo(WcStatus.LOC_PROT_ERR);
      assertThat(left.qp.query().state()).isEqualTo(QpState.RTS);
      it.assertSends(2);
    }
  }

  /**
   * Whether the queue pair was in SQE, which it is once the send has failed; afterwards it is in
   * RTS.
   */
  private static boolean recovers(Side side) {
    try {
      side.qp.modify(QpAttributes.to(QpState.RTS).currentState(QpState.SQE));
      return true;
    } catch (VerbsException e) {
      assertThat(e.errno()).isEqualTo(Errno.EINVAL);
      return false;
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = QpType.class,
      names = {"UC", "UD"})
  void failedReceiveMovesSqeToErr(QpType type) {
    try (Failing it = new Failing(type)) {
      it.pair.left.postReceive(10, 0, 1);
      it.pair.left.postReceive(11, 0, 100);
      it.fail();
      it.pair.right.qp.postSend(it.fromRight(5).sge(it.pair.right.buffer, 0, 8));
      Side.assertSuccess(it.pair.right.sent());
      List<Wc> found = it.pair.left.received(2);
      assertThat(found)
          .extracting(Wc::status)
          .containsExactly(WcStatus.LOC_LEN_ERR, WcStatus.WR_FLUSH_ERR);
      assertThat(it.pair.left.qp.state()).isEqualTo(QpState.ERR);
      assertThat(it.pair.left.qp.query().state()).isEqualTo(QpState.ERR);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = QpType.class,
      names = {"UC", "UD"})
  void queuePairInSqeMayGoToErrOrReset(QpType type) {
    try (Failing it = new Failing(type)) {
      it.pair.left.postReceive(10, 0, 100);
      it.fail();
      it.pair.left.qp.modify(QpAttributes.to(QpState.ERR));
      Wc flushed = it.pair.left.received();
      assertThat(flushed.wrId()).isEqualTo(10);
      assertThat(flushed.status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
      it.pair.left.qp.modify(QpAttributes.to(QpState.RESET));
      it.pair.right.qp.modify(QpAttributes.to(QpState.RESET));
      it.pair.connect(1, 2);
      it.assertSends(11);
      it.fail();
      it.pair.left.qp.modify(QpAttributes.to(QpState.RESET));
      it.pair.right.qp.modify(QpAttributes.to(QpState.RESET));
      it.pair.connect(3, 4);
      it.assertSends(12);
    }
  }
}
