package org.hghca.cm.ib;

import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import org.hghca.cm.carrier.ConnectReply;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Path;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.ServiceRequest;
import org.hghca.cm.mad.CmaHeader;
import org.hghca.cm.mad.PathFields;
import org.hghca.cm.mad.Rep;
import org.hghca.cm.mad.Req;
import org.hghca.cm.mad.SidrReq;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;

/** Requests of the carrier as messages, and messages as requests of the carrier. */
final class Requests {
  private static final int PARTITION_KEY = 0xffff;
  private static final int PERMISSIVE_LID = 0xffff;
  private static final int RC = 0;
  private static final int UC = 1;

  /**
   * The port space whose requests have no header with addresses: service IDs 0000 0000 013f pppp.
   */
  private static final int PORT_SPACE_IB = 0x013f;

  private Requests() {}

  /** Whether a header with addresses is before the private data: for all port spaces but IB's. */
  static boolean hasHeader(long serviceId) {
    return serviceId >>> 16 != PORT_SPACE_IB;
  }

  private static PrivateData withHeader(
      long serviceId, InetSocketAddress local, InetSocketAddress remote, PrivateData data) {
    return hasHeader(serviceId) ? CmaHeader.of(local, remote).before(data) : data;
  }

  static Req toReq(ConnectRequest request, int localId, long caGuid) {
    return new Req(
        localId,
        request.serviceId(),
        caGuid,
        request.qpNumber(),
        request.responderResources(),
        request.initiatorDepth(),
        Timeouts.RESPONSE,
        request.type() == QpType.RC ? RC : UC,
        request.flowControl(),
        request.startingPsn(),
        Timeouts.RESPONSE,
        request.retryCount(),
        PARTITION_KEY,
        request.path().mtu().code(),
        request.rnrRetry(),
        Timeouts.RETRIES,
        request.sharedReceiveQueue(),
        fields(request.path(), permissiveLid(request.path()), request.ackTimeout()),
        // Linux counts an alternate path by its LID, and has no use for one over Ethernet.
        request.alternate().map(path -> fields(path, 0, Math.min(path.packetLife() + 1, 31))),
        withHeader(request.serviceId(), request.local(), request.remote(), request.privateData()));
  }

  private static int permissiveLid(Path path) {
    return path.hopLimit() > 1 ? PERMISSIVE_LID : 0;
  }

  private static PathFields fields(Path path, int lid, int ackTimeout) {
    return new PathFields(
        lid,
        lid,
        path.source(),
        path.destination(),
        path.flowLabel(),
        0,
        path.trafficClass(),
        path.hopLimit(),
        path.serviceLevel(),
        path.hopLimit() <= 1,
        ackTimeout);
  }

  static SidrReq toSidrReq(ServiceRequest request, int requestId) {
    return new SidrReq(
        requestId,
        PARTITION_KEY,
        request.serviceId(),
        withHeader(request.serviceId(), request.local(), request.remote(), request.privateData()));
  }

  static Rep toRep(ConnectReply reply, int localId, int remoteId, long caGuid) {
    return new Rep(
        localId,
        remoteId,
        reply.qpNumber(),
        reply.startingPsn(),
        reply.responderResources(),
        reply.initiatorDepth(),
        reply.targetAckDelay(),
        0,
        reply.flowControl(),
        reply.rnrRetry(),
        reply.sharedReceiveQueue(),
        caGuid,
        reply.privateData());
  }

  static ConnectReply toReply(Rep rep, Path path) {
    return new ConnectReply(
        path,
        rep.qpNumber(),
        rep.sharedReceiveQueue(),
        rep.startingPsn(),
        rep.responderResources(),
        rep.initiatorDepth(),
        rep.rnrRetry(),
        rep.flowControl(),
        rep.targetAckDelay(),
        rep.privateData(),
        Optional.empty());
  }

  /** Whether the transport is that of a type of queue pairs. */
  static boolean isKnownTransport(Req req) {
    return req.transport() == RC || req.transport() == UC;
  }

  static boolean isKnownMtu(Req req) {
    return req.pathMtu() >= Mtu.MTU_256.code() && req.pathMtu() <= Mtu.MTU_4096.code();
  }

  /**
   * The two addresses of a request.
   *
   * @param local of this end
   * @param remote of the peer
   * @param privateData of the application
   */
  record Addresses(InetSocketAddress local, InetSocketAddress remote, PrivateData privateData) {}

  /**
   * The addresses of a request.
   *
   * @param source the GID from which it says that it comes
   * @param destination the GID to which it says that it goes
   * @return empty when they contradict the datagram or each other
   */
  static Optional<Addresses> addresses(
      long serviceId, Gid source, Gid destination, PrivateData data, Arrival from) {
    if (!source.equals(from.peer()) || !destination.equals(from.own())) {
      return Optional.empty();
    }
    int port = (int) serviceId & 0xffff;
    if (!hasHeader(serviceId)) {
      return Optional.of(
          new Addresses(
              new InetSocketAddress(destination.address(), port),
              new InetSocketAddress(source.address(), 0),
              data));
    }
    Optional<CmaHeader> read = CmaHeader.read(data);
    if (read.isEmpty()) {
      return Optional.empty();
    }
    CmaHeader header = read.get();
    if (!Gid.of(header.source()).equals(source)
        || !Gid.of(header.destination()).equals(destination)) {
      return Optional.empty();
    }
    return Optional.of(
        new Addresses(
            new InetSocketAddress(header.destination(), port),
            new InetSocketAddress(header.source(), header.sourcePort()),
            CmaHeader.rest(data)));
  }

  /**
   * The request as the end that is asked sees it.
   *
   * @param index of the own GID
   * @param indexOf finds other own GIDs
   */
  static ConnectRequest toRequest(
      Req req, Addresses addresses, int index, Function<Gid, OptionalInt> indexOf) {
    return new ConnectRequest(
        req.serviceId(),
        addresses.local(),
        addresses.remote(),
        path(req.primary(), index, req),
        req.alternate()
            .filter(path -> indexOf.apply(path.remoteGid()).isPresent())
            .map(path -> path(path, indexOf.apply(path.remoteGid()).getAsInt(), req)),
        req.transport() == RC ? QpType.RC : QpType.UC,
        req.qpNumber(),
        req.sharedReceiveQueue(),
        req.startingPsn(),
        req.responderResources(),
        req.initiatorDepth(),
        req.retryCount(),
        req.rnrRetry(),
        req.flowControl(),
        req.primary().ackTimeout(),
        addresses.privateData(),
        Optional.empty());
  }

  private static Path path(PathFields fields, int index, Req req) {
    return new Path(
        fields.remoteGid(),
        index,
        fields.localGid(),
        fields.flowLabel(),
        fields.trafficClass(),
        fields.hopLimit(),
        fields.serviceLevel(),
        Arrival.PORT,
        Mtu.of(req.pathMtu()),
        Math.max(fields.ackTimeout() - 1, 0));
  }

  /** The question as the end that is asked sees it. */
  static ServiceRequest toRequest(SidrReq req, Addresses addresses, Arrival from, Mtu mtu) {
    Path path =
        new Path(
            from.own(),
            from.index(),
            from.peer(),
            0,
            from.trafficClass(),
            Arrival.HOP_LIMIT,
            0,
            Arrival.PORT,
            mtu,
            PACKET_LIFE);
    return new ServiceRequest(
        req.serviceId(), addresses.local(), addresses.remote(), path, addresses.privateData());
  }

  /** What Linux takes for the life of a packet over Ethernet. */
  private static final int PACKET_LIFE = 16;
}
