package org.hghca.conformance.verbs;

import java.util.EnumSet;
import java.util.Set;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpAttribute;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;

/** Queue pairs in any state, and attributes for any transition: table A1-2, for type RC. */
final class QpFixtures {
  static final Set<QpAttribute> TO_INIT =
      EnumSet.of(QpAttribute.PKEY_INDEX, QpAttribute.PORT, QpAttribute.ACCESS_FLAGS);
  static final Set<QpAttribute> TO_RTR =
      EnumSet.of(
          QpAttribute.AV,
          QpAttribute.PATH_MTU,
          QpAttribute.DEST_QPN,
          QpAttribute.RQ_PSN,
          QpAttribute.MIN_RNR_TIMER);
  static final Set<QpAttribute> TO_RTS =
      EnumSet.of(
          QpAttribute.TIMEOUT, QpAttribute.RETRY_CNT, QpAttribute.RNR_RETRY, QpAttribute.SQ_PSN);

  /** All attributes that can be set besides STATE and CUR_STATE. */
  static final Set<QpAttribute> SETTABLE =
      EnumSet.of(
          QpAttribute.ACCESS_FLAGS,
          QpAttribute.PKEY_INDEX,
          QpAttribute.PORT,
          QpAttribute.QKEY,
          QpAttribute.AV,
          QpAttribute.PATH_MTU,
          QpAttribute.TIMEOUT,
          QpAttribute.RETRY_CNT,
          QpAttribute.RNR_RETRY,
          QpAttribute.RQ_PSN,
          QpAttribute.MAX_QP_RD_ATOMIC,
          QpAttribute.MIN_RNR_TIMER,
          QpAttribute.SQ_PSN,
          QpAttribute.MAX_DEST_RD_ATOMIC,
          QpAttribute.DEST_QPN);

  private QpFixtures() {}

  /** Sets an attribute to a valid value. */
  static QpAttributes set(QpAttributes to, QpAttribute attribute, QueuePair peer) {
    return switch (attribute) {
      case ACCESS_FLAGS -> to.access(AccessFlag.REMOTE_WRITE);
      case PKEY_INDEX -> to.pkeyIndex(0);
      case PORT -> to.port(1);
      case QKEY -> to.qkey(0x123);
      case AV ->
          to.addressVector(AddressVector.to(peer.protectionDomain().context().queryGid(1, 0), 0));
      case PATH_MTU -> to.pathMtu(Mtu.MTU_512);
      case TIMEOUT -> to.timeout(12);
      case RETRY_CNT -> to.retryCount(3);
      case RNR_RETRY -> to.rnrRetry(2);
      case RQ_PSN -> to.receivePsn(0xabcdef);
      case MAX_QP_RD_ATOMIC -> to.maxReadAtomic(2);
      case MIN_RNR_TIMER -> to.minRnrTimer(5);
      case SQ_PSN -> to.sendPsn(0x123456);
      case MAX_DEST_RD_ATOMIC -> to.maxDestinationReadAtomic(4);
      case DEST_QPN -> to.destinationQpn(peer.number());
      default -> throw new IllegalArgumentException(attribute.toString());
    };
  }

  static QpAttributes attributes(QpState state, Set<QpAttribute> which, QueuePair peer) {
    QpAttributes attributes = QpAttributes.to(state);
    which.forEach(attribute -> set(attributes, attribute, peer));
    return attributes;
  }

  /**
   * The attributes that table A1-2 requires for the transition to a state from the one before it.
   */
  static Set<QpAttribute> required(QpState to) {
    return switch (to) {
      case INIT -> TO_INIT;
      case RTR -> TO_RTR;
      case RTS -> TO_RTS;
      default -> Set.of();
    };
  }

  /** Takes a queue pair from RESET to a state. */
  static void bring(QueuePair qp, QueuePair peer, QpState state) {
    ConnectionOptions options = ConnectionOptions.DEFAULT;
    if (state == QpState.RESET) {
      return;
    }
    qp.modify(options.toInit(qp.type()));
    if (state == QpState.INIT) {
      return;
    }
    if (state == QpState.ERR) {
      qp.modify(QpAttributes.to(QpState.ERR));
      return;
    }
    qp.modify(options.toRtr(qp.type(), RcPair.endpoint(peer, 0)));
    if (state == QpState.RTR) {
      return;
    }
    qp.modify(options.toRts(qp.type(), 0));
    if (state == QpState.SQD) {
      qp.modify(QpAttributes.to(QpState.SQD));
    }
  }
}
