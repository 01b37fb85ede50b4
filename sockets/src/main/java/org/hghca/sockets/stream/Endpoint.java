package org.hghca.sockets.stream;

import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import org.hghca.cm.CmId;
import org.hghca.cm.ConnectionParameters;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.sockets.protocol.ConnectData;
import org.hghca.sockets.protocol.Framing;
import org.hghca.sockets.protocol.HalfEntry;
import org.hghca.sockets.protocol.ReceiveWindow;
import org.hghca.sockets.protocol.SendWindow;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.VerbsException;

/** What a stream is made of: an identifier, memory, a queue pair, and a place in an engine. */
final class Endpoint {
  private static final ConditionLog LOG = ConditionLog.of(Endpoint.class);

  private final StreamResources resources;
  private final CmId id;
  private final StreamOptions options;
  private final int credits;
  private final Engines.Place place;
  private StreamMemory memory;
  private Outgoing out;
  private Incoming in;
  private RdmaStream stream;
  private InetSocketAddress local;
  private InetSocketAddress remote;

  /**
   * The endpoint of an identifier whose path is known: its receives are posted, and its stream
   * takes completions.
   *
   * @throws VerbsException when the device cannot; nothing is left then, but the identifier
   */
  Endpoint(StreamResources resources, CmId id, StreamOptions options) {
    this.resources = resources;
    this.id = id;
    this.options = options;
    this.credits = options.receiveQueue();
    int sends = options.sendQueue() + SendWindow.CONTROLS;
    int receives = credits + SendWindow.CONTROLS + Incoming.GROUP;
    place = resources.engines().enter(sends + receives);
    try {
      make(options, sends, receives);
    } catch (VerbsException e) {
      close();
      throw e;
    }
  }

  private void make(StreamOptions options, int sends, int receives) {
    int inline = Math.min(options.inline(), id.context().queryDevice().maxInline());
    memory = new StreamMemory(resources.domain(), options, inline);
    QueuePair queuePair =
        id.createQueuePair(
            resources.domain(),
            QueuePairConfig.rc(place.engine().queue(), place.engine().queue())
                .sendDepth(sends)
                .receiveDepth(receives)
                .maxInline(inline)
                .singleOwner());
    ReceiveWindow received = new ReceiveWindow(memory.half(), credits);
    SendWindow window = new SendWindow(sends, options.sendBuffer());
    out =
        new Outgoing(memory, queuePair, place.slot(), inline, options.mappings(), window, received);
    in = new Incoming(memory, queuePair, place.slot(), received);
    stream = new RdmaStream(this);
    place.engine().attach(place.slot(), stream);
    in.post(receives);
    resources.made(this);
  }

  /** What the peer is told. */
  ConnectionParameters parameters() {
    ConnectData data =
        new ConnectData(
            Framing.WRITES,
            HalfEntry.OWN_ORDER == ByteOrder.BIG_ENDIAN,
            credits,
            memory.remoteTable(),
            memory.remoteHalf(),
            options.mappings());
    return ConnectionParameters.DEFAULT
        .withResponderResources(0)
        .withInitiatorDepth(0)
        .withFlowControl(true)
        .withPrivateData(data.toBytes());
  }

  /** Both ends are connected: the stream may be used. */
  void open(ConnectData peer) {
    local = id.localAddress();
    remote = id.remoteAddress();
    stream.open(peer);
    stream.keepAlive(options.keepAlive(), options.keepIdleSeconds());
  }

  /** Whether {@link #open} was called. */
  boolean isOpen() {
    return local != null;
  }

  RdmaStream stream() {
    return stream;
  }

  Engine engine() {
    return place.engine();
  }

  Outgoing out() {
    return out;
  }

  Incoming in() {
    return in;
  }

  InetSocketAddress localAddress() {
    return local;
  }

  InetSocketAddress remoteAddress() {
    return remote;
  }

  /** The peer has ended the connection, and waits to hear that this end has, too. */
  void confirmEnd() {
    try {
      id.disconnect();
    } catch (VerbsException e) {
      LOG.debug(About.peer(remote), "{} has ended: {}", id, e.getMessage());
    }
  }

  /** Frees all of it. */
  void close() {
    if (stream != null) {
      place.engine().detach(place.slot());
      out.close();
      in.close();
    }
    resources.close(id);
    if (memory != null) {
      memory.close();
    }
    resources.engines().leave(place);
    resources.closed(this);
  }
}
