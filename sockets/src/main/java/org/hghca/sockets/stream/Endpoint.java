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
import org.hghca.sockets.protocol.SendWindow;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RemoteMemory;
import org.hghca.verbs.VerbsException;

/** What a stream is made of: an identifier, memory, a queue pair, and a place in an engine. */
final class Endpoint {
  private static final ConditionLog LOG = ConditionLog.of(Endpoint.class);

  /** Within a page, which no device minds: some demand more of longer ones. */
  private static final int LARGEST_SLOT = 4096;

  private static final int SMALLEST_SLOT = 512;

  /** What a driver may put into a send queue itself, and takes room for in the completion queue. */
  private static final int OF_THE_DRIVER = 1;

  private static final int MOST_SLOTS = 4096;
  private static final RemoteMemory NO_TABLE = new RemoteMemory(0, 0, HalfEntry.COUNT);

  private final StreamResources resources;
  private final CmId id;
  private final StreamOptions options;
  private final Framing framing;
  private final int slotBytes;
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
    this.framing = resources.framing();
    this.slotBytes = slotBytes(options);
    this.credits = framing == Framing.WRITES ? options.receiveQueue() : slots(options);
    int sends = options.sendQueue() + SendWindow.CONTROLS;
    int spare = framing == Framing.WRITES ? WrittenBytes.GROUP : 0;
    int receives = credits + SendWindow.CONTROLS + spare;
    place = resources.engines().enter(sends + receives + OF_THE_DRIVER);
    try {
      make(options, sends, receives);
    } catch (VerbsException e) {
      close();
      throw e;
    }
  }

  /** As many slots as messages are to be under way, if these have a usual length. */
  private static int slotBytes(StreamOptions options) {
    int each = options.receiveBuffer() / options.receiveQueue();
    return Math.clamp(Integer.highestOneBit(each), SMALLEST_SLOT, LARGEST_SLOT);
  }

  private int slots(StreamOptions options) {
    return Math.clamp(options.receiveBuffer() / slotBytes, StreamOptions.MIN_QUEUE, MOST_SLOTS);
  }

  private void make(StreamOptions options, int sends, int receives) {
    int inline = Math.min(options.inline(), id.context().queryDevice().maxInline());
    int receiveBytes = framing == Framing.WRITES ? options.receiveBuffer() : receives * slotBytes;
    memory = new StreamMemory(resources.domain(), framing, options, receiveBytes, inline);
    QueuePair queuePair =
        id.createQueuePair(
            resources.domain(),
            QueuePairConfig.rc(place.engine().queue(), place.engine().queue())
                .sendDepth(sends)
                .receiveDepth(receives)
                .maxInline(inline)
                .singleOwner());
    in =
        framing == Framing.WRITES
            ? new WrittenBytes(memory, queuePair, place.slot(), credits, receives)
            : new SentBytes(memory, queuePair, place.slot(), credits, slotBytes, receives);
    SendWindow window = new SendWindow(sends, memory.sendBytes());
    out =
        new Outgoing(
            framing,
            memory,
            queuePair,
            place.slot(),
            inline,
            options.mappings(),
            window,
            in.grants());
    stream = new RdmaStream(this);
    place.engine().attach(place.slot(), stream);
    in.post();
    resources.made(this);
  }

  /** What the peer is told. */
  ConnectionParameters parameters() {
    boolean bigEndian = HalfEntry.OWN_ORDER == ByteOrder.BIG_ENDIAN;
    ConnectData data =
        framing == Framing.WRITES
            ? new ConnectData(
                framing,
                bigEndian,
                credits,
                memory.remoteTable(),
                memory.remoteHalf(),
                options.mappings())
            : new ConnectData(framing, bigEndian, credits, NO_TABLE, slot(), 0);
    return ConnectionParameters.DEFAULT
        .withResponderResources(0)
        .withInitiatorDepth(0)
        .withFlowControl(true)
        .withPrivateData(data.toBytes());
  }

  private RemoteMemory slot() {
    return new RemoteMemory(0, 0, slotBytes);
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
    try {
      if (memory != null) {
        memory.close();
      }
    } finally {
      resources.engines().leave(place);
      resources.closed(this);
    }
  }
}
