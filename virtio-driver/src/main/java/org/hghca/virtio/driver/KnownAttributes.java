package org.hghca.virtio.driver;

import org.hghca.verbs.AddressVector;
import org.hghca.verbs.QpAttribute;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.RoceEntropy;

/** The attributes of a queue pair as last set: a device need not return what it was not asked. */
final class KnownAttributes {
  private KnownAttributes() {}

  /** A copy with some attributes changed; of the states neither is copied. */
  static QpAttributes with(QpAttributes known, QpAttributes changes) {
    QpAttributes all = new QpAttributes();
    known.mask().forEach(attribute -> copy(attribute, known, all));
    changes.mask().forEach(attribute -> copy(attribute, changes, all));
    return all;
  }

  /** Gives a connection with flow label 0 the one of its numbers. */
  static void label(QpAttributes all, RoceEntropy entropy, int number) {
    AddressVector av = all.addressVector();
    if (av.isGlobal() && av.flowLabel() == 0) {
      all.addressVector(
          new AddressVector(
              av.destination(),
              av.sourceGidIndex(),
              entropy.flowLabel(number, all.destinationQpn()),
              av.hopLimit(),
              av.trafficClass(),
              av.serviceLevel(),
              av.port()));
    }
  }

  private static void copy(QpAttribute attribute, QpAttributes from, QpAttributes to) {
    switch (attribute) {
      case STATE, CUR_STATE, CAP -> {}
      case EN_SQD_ASYNC_NOTIFY -> to.sqdNotify(from.sqdNotify());
      case ACCESS_FLAGS -> to.access(from.access());
      case PKEY_INDEX -> to.pkeyIndex(from.pkeyIndex());
      case PORT -> to.port(from.port());
      case QKEY -> to.qkey(from.qkey());
      case AV -> to.addressVector(from.addressVector());
      case PATH_MTU -> to.pathMtu(from.pathMtu());
      case TIMEOUT -> to.timeout(from.timeout());
      case RETRY_CNT -> to.retryCount(from.retryCount());
      case RNR_RETRY -> to.rnrRetry(from.rnrRetry());
      case RQ_PSN -> to.receivePsn(from.receivePsn());
      case MAX_QP_RD_ATOMIC -> to.maxReadAtomic(from.maxReadAtomic());
      case ALT_PATH -> to.alternatePath(from.alternatePath());
      case MIN_RNR_TIMER -> to.minRnrTimer(from.minRnrTimer());
      case SQ_PSN -> to.sendPsn(from.sendPsn());
      case MAX_DEST_RD_ATOMIC -> to.maxDestinationReadAtomic(from.maxDestinationReadAtomic());
      case PATH_MIG_STATE -> to.pathMigration(from.pathMigration());
      case DEST_QPN -> to.destinationQpn(from.destinationQpn());
    }
  }
}
