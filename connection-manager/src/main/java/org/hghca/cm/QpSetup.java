package org.hghca.cm;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.hghca.cm.carrier.ConnectReply;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Path;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.WrapMemory;

/**
 * The attributes that bring a connected queue pair to each state: what {@code rdma_init_qp_attr}
 * computes from REQ and REP; and the memory that the peer offers, which the queue pair takes before
 * RTR.
 */
record QpSetup(
    QpType type,
    Path path,
    Set<AccessFlag> access,
    int destination,
    int receivePsn,
    int sendPsn,
    int responderResources,
    int initiatorDepth,
    int ackTimeout,
    int retryCount,
    int rnrRetry,
    Optional<WrapMemory> wrapMemory) {
  /** 0.64 ms, as the examples; the 0 of Linux would be 655 ms. */
  private static final int MIN_RNR_TIMER = 12;

  /** Of the end that asked. */
  static QpSetup active(Context context, ConnectRequest request, ConnectReply reply) {
    return new QpSetup(
        request.type(),
        reply.path(),
        access(context, Math.min(request.responderResources(), reply.initiatorDepth())),
        reply.qpNumber(),
        request.startingPsn(),
        reply.startingPsn(),
        Math.min(request.responderResources(), reply.initiatorDepth()),
        Math.min(request.initiatorDepth(), reply.responderResources()),
        request.path().ackTimeout(reply.targetAckDelay()),
        request.retryCount(),
        reply.rnrRetry(),
        reply.wrapMemory());
  }

  /** Of the end that was asked. */
  static QpSetup passive(Context context, ConnectRequest request, ConnectReply reply) {
    return new QpSetup(
        request.type(),
        request.path(),
        access(context, reply.responderResources()),
        request.qpNumber(),
        reply.startingPsn(),
        request.startingPsn(),
        reply.responderResources(),
        reply.initiatorDepth(),
        request.ackTimeout(),
        request.retryCount(),
        request.rnrRetry(),
        request.wrapMemory());
  }

  /** What a peer may do: reads and atomics only if some are served. */
  static Set<AccessFlag> access(Context context, int responderResources) {
    Set<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    if (responderResources > 0) {
      access.add(AccessFlag.REMOTE_READ);
      if (context.queryDevice().has(DeviceFeature.ATOMICS)) {
        access.add(AccessFlag.REMOTE_ATOMIC);
      }
    }
    return access;
  }

  /** INIT, before the peer is known. */
  static QpAttributes init(int port, Set<AccessFlag> access) {
    return QpAttributes.to(QpState.INIT).pkeyIndex(0).port(port).access(access);
  }

  QpAttributes rtr() {
    QpAttributes attributes =
        QpAttributes.to(QpState.RTR)
            .addressVector(path.vector())
            .pathMtu(path.mtu())
            .destinationQpn(destination)
            .receivePsn(receivePsn)
            .access(access);
    return type == QpType.UC
        ? attributes
        : attributes.maxDestinationReadAtomic(responderResources).minRnrTimer(MIN_RNR_TIMER);
  }

  QpAttributes rts() {
    QpAttributes attributes = QpAttributes.to(QpState.RTS).sendPsn(sendPsn);
    return type == QpType.UC
        ? attributes
        : attributes
            .timeout(ackTimeout)
            .retryCount(retryCount)
            .rnrRetry(rnrRetry)
            .maxReadAtomic(initiatorDepth);
  }
}
