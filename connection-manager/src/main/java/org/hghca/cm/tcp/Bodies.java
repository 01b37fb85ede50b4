package org.hghca.cm.tcp;

import java.net.InetSocketAddress;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.hghca.cm.carrier.ConnectReply;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Path;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.ServiceReply;
import org.hghca.cm.carrier.ServiceRequest;
import org.hghca.cm.carrier.SourceGid;
import org.hghca.verbs.Context;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WrapMemory;

/**
 * The bodies of messages. What a peer sends is checked before it is used: the length of private
 * data before it is allocated, each code against its range.
 *
 * <p>A path is 28 bytes: the sender's GID (16), flow label (4), traffic class, hop limit, service
 * level, MTU code and packet life (1 each), 3 of 0. A request has the service ID (8), the port of
 * the sender (2), and its path before its numbers.
 *
 * <p>The memory that a request or a reply offers for the PSN wrap follows the private data: rkey
 * (4), address (8) and length (4). Without an offer the message ends before it. Versions that do
 * not know it ignore what follows the private data, as this one ignores what follows the offer.
 */
final class Bodies {
  /** More than any message of a connection carries. */
  private static final int MAX_PRIVATE = 224;

  private Bodies() {}

  static void put(ByteBuffer to, PrivateData data) {
    to.putShort((short) data.length()).put(data.toArray());
  }

  static PrivateData privateData(ByteBuffer from) throws MalformedException {
    int length = from.remaining() < 2 ? -1 : Short.toUnsignedInt(from.getShort());
    if (length < 0 || length > MAX_PRIVATE || length > from.remaining()) {
      throw new MalformedException(length + " bytes of private data");
    }
    byte[] bytes = new byte[length];
    from.get(bytes);
    return PrivateData.of(bytes);
  }

  private static void put(ByteBuffer to, WrapMemory memory) {
    to.putInt(memory.rkey()).putLong(memory.address()).putInt(memory.length());
  }

  private static Optional<WrapMemory> wrapMemory(ByteBuffer from) throws MalformedException {
    if (!from.hasRemaining()) {
      return Optional.empty();
    }
    try {
      return Optional.of(new WrapMemory(from.getInt(), from.getLong(), from.getInt()));
    } catch (BufferUnderflowException _) {
      throw new UnusableOfferException("an offer of memory that is too short");
    } catch (VerbsException e) {
      throw new UnusableOfferException(e.getMessage());
    }
  }

  /** The reason of a refusal. */
  static int reason(ByteBuffer from) throws MalformedException {
    if (from.remaining() < 2 * Short.BYTES) {
      throw new MalformedException("a refusal that is too short");
    }
    return Short.toUnsignedInt(from.getShort());
  }

  private static void put(ByteBuffer to, Path path) {
    to.putLong(path.source().subnetPrefix()).putLong(path.source().interfaceId());
    to.putInt(path.flowLabel());
    to.put((byte) path.trafficClass()).put((byte) path.hopLimit()).put((byte) path.serviceLevel());
    to.put((byte) path.mtu().code()).put((byte) path.packetLife());
    to.put(new byte[3]);
  }

  /** The peer's end of a path, as it is seen from here: from our GID to the peer's. */
  private static Path path(ByteBuffer from, Context context, Gid source, int index, int port)
      throws MalformedException {
    final Gid peer = new Gid(from.getLong(), from.getLong());
    final int flowLabel = bits(from.getInt(), 20);
    final int trafficClass = from.get() & 0xff;
    final int hopLimit = from.get() & 0xff;
    final int serviceLevel = bits(from.get(), 4);
    final Mtu peers = mtu(from.get());
    final int packetLife = bits(from.get(), 5);
    from.get(new byte[3]);
    int smaller = Math.min(peers.code(), context.queryPort(port).activeMtu().code());
    return new Path(
        source,
        index,
        peer,
        flowLabel,
        trafficClass,
        hopLimit,
        serviceLevel,
        port,
        Mtu.of(smaller),
        packetLife);
  }

  private static Mtu mtu(int code) throws MalformedException {
    try {
      return Mtu.of(code);
    } catch (VerbsException _) {
      throw new MalformedException("MTU code " + code);
    }
  }

  private static int bits(int value, int bits) throws MalformedException {
    if (value >>> bits != 0) {
      throw new MalformedException("%d in a field of %d bits".formatted(value, bits));
    }
    return value;
  }

  private interface Reading<T> {
    T read() throws MalformedException;
  }

  /** Reads a body that the peer may have made too short. */
  private static <T> T whole(String what, Reading<T> reading) throws MalformedException {
    try {
      return reading.read();
    } catch (BufferUnderflowException | IndexOutOfBoundsException | IllegalArgumentException _) {
      throw new MalformedException(what + " that is too short");
    }
  }

  /** The path of a request, which is the first thing that says who the peer is. */
  private static Path pathOfRequest(ByteBuffer from, Context context, InetSocketAddress local)
      throws MalformedException {
    Gid peer = new Gid(from.getLong(from.position()), from.getLong(from.position() + 8));
    try {
      GidEntry own = SourceGid.matching(context, peer, local.getAddress());
      return path(from, context, own.gid(), own.index(), own.port());
    } catch (VerbsException e) {
      throw new MalformedException(e.getMessage());
    }
  }

  static Message of(ConnectRequest request) {
    ByteBuffer body = ByteBuffer.allocate(Message.MAX_BODY);
    body.putLong(request.serviceId()).putShort((short) request.local().getPort());
    put(body, request.path());
    body.putInt(request.qpNumber()).putInt(request.startingPsn());
    body.put((byte) request.type().code()).put((byte) (request.sharedReceiveQueue() ? 1 : 0));
    body.put((byte) request.responderResources()).put((byte) request.initiatorDepth());
    body.put((byte) request.retryCount()).put((byte) request.rnrRetry());
    body.put((byte) (request.flowControl() ? 1 : 0)).put((byte) request.ackTimeout());
    put(body, request.privateData());
    request.wrapMemory().ifPresent(memory -> put(body, memory));
    return new Message(Message.Kind.REQUEST, body.flip());
  }

  /** A request of a peer, as seen from here. */
  static ConnectRequest request(
      ByteBuffer from, Context context, InetSocketAddress local, InetSocketAddress remote)
      throws MalformedException {
    return whole(
        "a request",
        () -> {
          final long serviceId = from.getLong();
          final int port = Short.toUnsignedInt(from.getShort());
          final Path path = pathOfRequest(from, context, local);
          final int qpNumber = bits(from.getInt(), 24);
          final int psn = bits(from.getInt(), 24);
          final QpType type = type(from.get());
          return new ConnectRequest(
              serviceId,
              local,
              new InetSocketAddress(remote.getAddress(), port),
              path,
              Optional.empty(),
              type,
              qpNumber,
              from.get() != 0,
              psn,
              from.get() & 0xff,
              from.get() & 0xff,
              bits(from.get(), 3),
              bits(from.get(), 3),
              from.get() != 0,
              bits(from.get(), 5),
              privateData(from),
              wrapMemory(from));
        });
  }

  private static QpType type(int code) throws MalformedException {
    if (code == QpType.RC.code()) {
      return QpType.RC;
    }
    if (code == QpType.UC.code()) {
      return QpType.UC;
    }
    throw new MalformedException("queue pair type " + code);
  }

  static Message of(ConnectReply reply) {
    ByteBuffer body = ByteBuffer.allocate(Message.MAX_BODY);
    put(body, reply.path());
    body.putInt(reply.qpNumber()).putInt(reply.startingPsn());
    body.put((byte) (reply.sharedReceiveQueue() ? 1 : 0));
    body.put((byte) reply.responderResources()).put((byte) reply.initiatorDepth());
    body.put((byte) reply.rnrRetry()).put((byte) (reply.flowControl() ? 1 : 0));
    body.put((byte) reply.targetAckDelay());
    put(body, reply.privateData());
    reply.wrapMemory().ifPresent(memory -> put(body, memory));
    return new Message(Message.Kind.REPLY, body.flip());
  }

  /** The answer to a request of ours. */
  static ConnectReply reply(ByteBuffer from, Context context, Path asked)
      throws MalformedException {
    return whole(
        "a reply",
        () -> {
          final Path answered =
              path(from, context, asked.source(), asked.sourceIndex(), asked.port());
          final int qpNumber = bits(from.getInt(), 24);
          final int psn = bits(from.getInt(), 24);
          return new ConnectReply(
              with(asked, answered.destination(), answered.mtu()),
              qpNumber,
              from.get() != 0,
              psn,
              from.get() & 0xff,
              from.get() & 0xff,
              bits(from.get(), 3),
              from.get() != 0,
              bits(from.get(), 5),
              privateData(from),
              wrapMemory(from));
        });
  }

  /** The path of a request, with what only the answer tells. */
  private static Path with(Path asked, Gid destination, Mtu mtu) {
    return new Path(
        asked.source(),
        asked.sourceIndex(),
        destination,
        asked.flowLabel(),
        asked.trafficClass(),
        asked.hopLimit(),
        asked.serviceLevel(),
        asked.port(),
        mtu,
        asked.packetLife());
  }

  static Message of(ServiceRequest request) {
    ByteBuffer body = ByteBuffer.allocate(Message.MAX_BODY);
    body.putLong(request.serviceId()).putShort((short) request.local().getPort());
    put(body, request.path());
    put(body, request.privateData());
    return new Message(Message.Kind.SERVICE_REQUEST, body.flip());
  }

  /** A question of a peer, as seen from here. */
  static ServiceRequest service(
      ByteBuffer from, Context context, InetSocketAddress local, InetSocketAddress remote)
      throws MalformedException {
    return whole(
        "a question",
        () -> {
          final long serviceId = from.getLong();
          final int port = Short.toUnsignedInt(from.getShort());
          return new ServiceRequest(
              serviceId,
              local,
              new InetSocketAddress(remote.getAddress(), port),
              pathOfRequest(from, context, local),
              privateData(from));
        });
  }

  static Message of(ServiceReply reply) {
    ByteBuffer body = ByteBuffer.allocate(Message.MAX_BODY);
    put(body, reply.path());
    body.putInt(reply.status()).putInt(reply.qpNumber()).putInt(reply.qkey());
    put(body, reply.privateData());
    return new Message(Message.Kind.SERVICE_REPLY, body.flip());
  }

  /** The answer to a question of ours. */
  static ServiceReply serviceReply(ByteBuffer from, Context context, Path asked)
      throws MalformedException {
    return whole(
        "an answer",
        () -> {
          Path answered = path(from, context, asked.source(), asked.sourceIndex(), asked.port());
          return new ServiceReply(
              with(asked, answered.destination(), answered.mtu()),
              from.getInt(),
              bits(from.getInt(), 24),
              from.getInt(),
              privateData(from));
        });
  }
}
