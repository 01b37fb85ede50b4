package org.hghca.verbs;

import java.util.EnumSet;
import java.util.Set;

/** Sets attributes by name, to a valid value. */
final class QpAttributesSamples {

  /** The attributes that {@link QpAttributes} has a value for. */
  static final Set<QpAttribute> SETTABLE =
      EnumSet.complementOf(EnumSet.of(QpAttribute.EN_SQD_ASYNC_NOTIFY, QpAttribute.CAP));

  private QpAttributesSamples() {}

  /** Adds values of some attributes, where values exist. */
  static QpAttributes with(QpAttributes to, QpState current, Set<QpAttribute> attributes) {
    for (QpAttribute attribute : attributes) {
      switch (attribute) {
        case STATE, EN_SQD_ASYNC_NOTIFY, CAP -> {}
        case CUR_STATE -> to.currentState(current);
        case ACCESS_FLAGS -> to.access(AccessFlag.REMOTE_READ);
        case PKEY_INDEX -> to.pkeyIndex(0);
        case PORT -> to.port(1);
        case QKEY -> to.qkey(0x1111_1111);
        case AV -> to.addressVector(AddressVector.to(Gid.ofIpv4(0x0a00_0001), 1));
        case ALT_PATH ->
            to.alternatePath(
                new AlternatePath(AddressVector.to(Gid.ofIpv4(0x0a00_0002), 1), 0, 14));
        case PATH_MIG_STATE -> to.pathMigration(PathMigrationState.REARM);
        case PATH_MTU -> to.pathMtu(Mtu.MTU_1024);
        case TIMEOUT -> to.timeout(14);
        case RETRY_CNT -> to.retryCount(7);
        case RNR_RETRY -> to.rnrRetry(7);
        case RQ_PSN -> to.receivePsn(0x45);
        case MAX_QP_RD_ATOMIC -> to.maxReadAtomic(1);
        case MIN_RNR_TIMER -> to.minRnrTimer(12);
        case SQ_PSN -> to.sendPsn(0x45);
        case MAX_DEST_RD_ATOMIC -> to.maxDestinationReadAtomic(1);
        case DEST_QPN -> to.destinationQpn(0x123);
      }
    }
    return to;
  }
}
