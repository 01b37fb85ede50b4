package org.hghca.cm.ib;

import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.mad.Apr;
import org.hghca.cm.mad.Lap;
import org.hghca.cm.mad.PathFields;
import org.hghca.cm.mad.Rep;
import org.hghca.cm.mad.Req;
import org.hghca.verbs.Gid;

/** Messages with one field changed. */
final class Corrupted {

  private Corrupted() {}

  static Req primary(Req req, PathFields path) {
    return req(req, req.transport(), req.pathMtu(), path, req.privateData());
  }

  static Req privateData(Req req, PrivateData data) {
    return req(req, req.transport(), req.pathMtu(), req.primary(), data);
  }

  static Req transport(Req req, int transport) {
    return req(req, transport, req.pathMtu(), req.primary(), req.privateData());
  }

  static Req mtu(Req req, int mtu) {
    return req(req, req.transport(), mtu, req.primary(), req.privateData());
  }

  private static Req req(Req req, int transport, int mtu, PathFields path, PrivateData data) {
    return numbered(
        req, req.localId(), req.qpNumber(), transport, req.localResponseTimeout(), mtu, path, data);
  }

  /** A request of another peer. */
  static Req numbered(Req req, int localId, int qpNumber) {
    return numbered(
        req,
        localId,
        qpNumber,
        req.transport(),
        req.localResponseTimeout(),
        req.pathMtu(),
        req.primary(),
        req.privateData());
  }

  static Req responseTimeout(Req req, int code) {
    return numbered(
        req,
        req.localId(),
        req.qpNumber(),
        req.transport(),
        code,
        req.pathMtu(),
        req.primary(),
        req.privateData());
  }

  private static Req numbered(
      Req req,
      int localId,
      int qpNumber,
      int transport,
      int responseTimeout,
      int mtu,
      PathFields path,
      PrivateData data) {
    return new Req(
        localId,
        req.serviceId(),
        req.caGuid(),
        qpNumber,
        req.responderResources(),
        req.initiatorDepth(),
        req.remoteResponseTimeout(),
        transport,
        req.flowControl(),
        req.startingPsn(),
        responseTimeout,
        req.retryCount(),
        req.partitionKey(),
        mtu,
        req.rnrRetry(),
        req.maxCmRetries(),
        req.sharedReceiveQueue(),
        path,
        req.alternate(),
        data);
  }

  static Rep ids(Rep rep, int localId, int remoteId) {
    return new Rep(
        localId,
        remoteId,
        rep.qpNumber(),
        rep.startingPsn(),
        rep.responderResources(),
        rep.initiatorDepth(),
        rep.targetAckDelay(),
        rep.failoverAccepted(),
        rep.flowControl(),
        rep.rnrRetry(),
        rep.sharedReceiveQueue(),
        rep.caGuid(),
        rep.privateData());
  }

  static Lap lap(int localId, int remoteId, Gid local, Gid remote) {
    return new Lap(
        localId,
        remoteId,
        0x22,
        20,
        0,
        0,
        local,
        remote,
        0,
        0,
        64,
        0,
        0,
        false,
        17,
        PrivateData.EMPTY);
  }

  static Apr apr(int localId, int remoteId) {
    return new Apr(localId, remoteId, 0, PrivateData.EMPTY, PrivateData.EMPTY);
  }
}
