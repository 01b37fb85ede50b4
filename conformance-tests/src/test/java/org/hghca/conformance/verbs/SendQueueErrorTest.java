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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** State SQE: a failed unreliable send stops the send queue, and nothing else. */
@Needs(Feature.SQE)
@ParameterizedClass
@EnumSource(names = {"UC", "UD"})
class SendQueueErrorTest {
  private static final int QKEY = 0x1111_1111;

  private final RcPair pair;
  private final AddressHandle toRight;
  private final AddressHandle toLeft;

  SendQueueErrorTest(QpType type) {
    pair = new RcSetup().type(type).open();
    toRight = handle(pair.left, pair.right);
    toLeft = handle(pair.right, pair.left);
  }

  private static AddressHandle handle(Side from, Side to) {
    return from.pd.createAddressHandle(AddressVector.to(to.context.queryGid(1, 0), 0));
  }

  @AfterEach
  void close() {
    toLeft.close();
    toRight.close();
    pair.close();
  }

  private SendRequest fromLeft(long wrId) {
    int qpn = pair.right.qp.number();
    return pair.left.send.wrId(wrId).send().to(toRight, qpn, QKEY).signaled();
  }

  private SendRequest fromRight(long wrId) {
    int qpn = pair.left.qp.number();
    return pair.right.send.wrId(wrId).send().to(toLeft, qpn, QKEY).signaled();
  }

  /** One request fails, and two behind it are flushed. */
  private void fail() {
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

  private void assertSends(long wrId) {
    pair.right.postReceive(wrId, 0, 100);
    pair.left.qp.postSend(fromLeft(wrId).sge(pair.left.buffer, 0, 8));
    Side.assertSuccess(pair.left.sent());
    Wc received = pair.right.received();
    Side.assertSuccess(received);
    assertThat(received.wrId()).isEqualTo(wrId);
  }

  private void assertReceives(long wrId) {
    pair.left.postReceive(wrId, 0, 100);
    pair.right.qp.postSend(fromRight(wrId).sge(pair.right.buffer, 0, 8));
    Wc received = pair.left.received();
    Side.assertSuccess(received);
    assertThat(received.wrId()).isEqualTo(wrId);
    Side.assertSuccess(pair.right.sent());
  }

  @Test
  void receivesContinueInSqe() {
    pair.left.postReceive(10, 0, 100);
    fail();
    pair.right.qp.postSend(fromRight(11).sge(pair.right.buffer, 0, 8));
    Wc received = pair.left.received();
    Side.assertSuccess(received);
    assertThat(received.wrId()).isEqualTo(10);
    Side.assertSuccess(pair.right.sent());
    assertReceives(12);
    assertThat(pair.left.qp.query().state()).isEqualTo(QpState.SQE);
  }

  @Test
  void sendsInSqeAreAcceptedAndFlushed() {
    fail();
    pair.left.qp.postSend(fromLeft(4).sge(pair.left.buffer, 0, 8));
    Wc found = pair.left.sent();
    assertThat(found.wrId()).isEqualTo(4);
    assertThat(found.status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
    assertThat(pair.left.qp.query().state()).isEqualTo(QpState.SQE);
  }

  @Test
  void queuePairRecoversRepeatedly() {
    for (int i = 0; i < 20; i++) {
      fail();
      pair.left.qp.modify(QpAttributes.to(QpState.RTS).currentState(QpState.SQE));
      assertThat(pair.left.qp.state()).isEqualTo(QpState.RTS);
      assertThat(pair.left.qp.query().state()).isEqualTo(QpState.RTS);
      assertSends(20);
      assertReceives(21);
    }
  }

  @Test
  void errorsPolledAfterTheRecoveryLeaveItInRts() {
    Side left = pair.left;
    left.qp.postSend(fromLeft(1).sge(left.address(0), 8, left.buffer.lkey() ^ 1 << 24));
    left.qp.postSend(fromLeft(2).sge(left.buffer, 0, 8));
    pair.fabric.await(
        () -> left.qp.query().state() == QpState.SQE, () -> "the send has not failed");
    left.qp.modify(QpAttributes.to(QpState.RTS));
    List<Wc> found = left.sent(2);
    assertThat(found)
        .extracting(Wc::status)
        .containsExactly(WcStatus.LOC_PROT_ERR, WcStatus.WR_FLUSH_ERR);
    assertThat(left.qp.query().state()).isEqualTo(QpState.RTS);
    assertThat(left.qp.state()).isEqualTo(QpState.RTS);
    assertSends(3);
  }

  @Test
  void knownErrorCanBeRecoveredBeforeItIsPolled() {
    Side left = pair.left;
    left.qp.postSend(fromLeft(1).sge(left.address(0), 8, left.buffer.lkey() ^ 1 << 24));
    pair.fabric.await(() -> recovers(left), () -> "the send has not failed");
    assertThat(left.sent().status()).isEqualTo(WcStatus.LOC_PROT_ERR);
    assertThat(left.qp.query().state()).isEqualTo(QpState.RTS);
    assertSends(2);
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

  @Test
  void failedReceiveMovesSqeToErr() {
    pair.left.postReceive(10, 0, 1);
    pair.left.postReceive(11, 0, 100);
    fail();
    pair.right.qp.postSend(fromRight(5).sge(pair.right.buffer, 0, 8));
    Side.assertSuccess(pair.right.sent());
    List<Wc> found = pair.left.received(2);
    assertThat(found)
        .extracting(Wc::status)
        .containsExactly(WcStatus.LOC_LEN_ERR, WcStatus.WR_FLUSH_ERR);
    assertThat(pair.left.qp.state()).isEqualTo(QpState.ERR);
    assertThat(pair.left.qp.query().state()).isEqualTo(QpState.ERR);
  }

  @Test
  void queuePairInSqeMayGoToErrOrReset() {
    pair.left.postReceive(10, 0, 100);
    fail();
    pair.left.qp.modify(QpAttributes.to(QpState.ERR));
    Wc flushed = pair.left.received();
    assertThat(flushed.wrId()).isEqualTo(10);
    assertThat(flushed.status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
    pair.left.qp.modify(QpAttributes.to(QpState.RESET));
    pair.right.qp.modify(QpAttributes.to(QpState.RESET));
    pair.connect(1, 2);
    assertSends(11);
    fail();
    pair.left.qp.modify(QpAttributes.to(QpState.RESET));
    pair.right.qp.modify(QpAttributes.to(QpState.RESET));
    pair.connect(3, 4);
    assertSends(12);
  }
}
