package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.wire.Packet;
import org.hghca.wire.PortAddresses;

/**
 * Ethernet frames in a stream of bytes, each behind its length of 32 bits, big-endian, as QEMU's
 * {@code -netdev stream} has them. The port has a MAC and IP addresses of its own there, and
 * resolves and answers its neighbors by itself. Needs no privilege.
 *
 * <p>The link's monitor guards the send side, since the poller ends connections.
 */
final class StreamLink implements Link, EthernetEnd.Frames {
  private static final ConditionLog LOG = ConditionLog.of(StreamLink.class);

  /** A longer frame is invalid: the connection ends. */
  static final int LONGEST_FRAME = 69_632;

  private static final ValueLayout.OfInt LENGTH =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int OUTGOING = 1 << 20;
  private static final int ROOM = OUTGOING / 2;
  private static final int INCOMING = 4 * LONGEST_FRAME;
  private static final int DONT_WAIT_NO_SIGNAL = 0x40 | 0x4000;
  private static final int BOTH_DIRECTIONS = 2;

  /** Reads in a row: a peer whose frames contain no packet does not block the poller. */
  private static final int MOST_READS = 4;

  private final SystemCalls linux;
  private final StreamAddress address;
  private final StreamConnection connection;
  private final LinkOptions options;
  private final LinkCounts counts = new LinkCounts();

  private final MemorySegment outgoing = Arena.ofAuto().allocate(OUTGOING, 64);
  private final EthernetEnd ethernet;
  private final SocketMessage sent = new SocketMessage();
  private int outgoingHead;
  private int outgoingTail;
  private volatile boolean awaitsRoom;

  private final MemorySegment incoming = Arena.ofAuto().allocate(INCOMING, 64);
  private final SocketMessage received = new SocketMessage();
  private int incomingHead;
  private int incomingTail;

  /** When to go on with frames that found no room in the last batch. */
  private volatile long incomingDue = Long.MAX_VALUE;

  /**
   * Connects, or starts to listen.
   *
   * @throws LinkException with the fix
   */
  StreamLink(SystemCalls linux, StreamAddress address, LinkOptions options) {
    this.linux = linux;
    this.address = address;
    this.options = options;
    this.ethernet = new EthernetEnd(options, counts, outgoing, incoming, this);
    this.connection = new StreamConnection(linux, address);
  }

  @Override
  public String description() {
    return "stream %s, path MTU %d".formatted(address.text(), pathMtu());
  }

  @Override
  public int pathMtu() {
    return PathMtu.of(options.mtu().orElse(LinkOptions.ETHERNET_MTU));
  }

  @Override
  public PortAddresses addresses() {
    return ethernet.addresses();
  }

  @Override
  public boolean isUp() {
    return connection.isUp();
  }

  @Override
  public synchronized boolean hasRoom() {
    return outgoingTail - outgoingHead <= ROOM;
  }

  @Override
  public LinkCounters counters() {
    return counts.snapshot();
  }

  @Override
  public boolean join(long high, long low) {
    boolean joined = ethernet.groups().join(high, low, System.nanoTime());
    connection.pollSoon();
    return joined;
  }

  @Override
  public void leave(long high, long low) {
    ethernet.groups().leave(high, low, System.nanoTime());
    connection.pollSoon();
  }

  @Override
  public void open(LinkWatch watch) {
    connection.open(watch);
  }

  @Override
  public synchronized void send(Packet packet) {
    if (!connection.isUp()) {
      counts.notSent(SendFailure.DOWN);
      return;
    }
    if (ethernet.send(packet)) {
      connection.pollSoon(); // the poller may sleep without a deadline
    }
  }

  @Override
  public int room(int bytes) {
    if (outgoingTail + Integer.BYTES + bytes > OUTGOING) {
      MemorySegment.copy(outgoing, outgoingHead, outgoing, 0, outgoingTail - outgoingHead);
      outgoingTail -= outgoingHead;
      outgoingHead = 0;
    }
    int at = outgoingTail + Integer.BYTES;
    return at + bytes <= OUTGOING ? at : -1;
  }

  /** A frame was written behind the space for its length. */
  @Override
  public void add(int length, int packets) {
    outgoing.set(LENGTH, outgoingTail, length);
    outgoingTail += Integer.BYTES + length;
    counts.sent(packets);
  }

  @Override
  public synchronized void flush() {
    if (!connection.isUp()) {
      return;
    }
    ethernet.flush();
    while (outgoingHead < outgoingTail) {
      long written =
          linux.sendmsg(
              connection.socket(),
              sent.of(outgoing, outgoingHead, outgoingTail - outgoingHead),
              DONT_WAIT_NO_SIGNAL);
      if (written < 0) {
        boolean full = LinuxErrno.EAGAIN.is(written);
        await(full);
        if (!full) {
          // The peer may have ended only this direction: now the poller reads the end as well.
          linux.shutdown(connection.socket(), BOTH_DIRECTIONS);
        }
        return;
      }
      outgoingHead += (int) written;
    }
    outgoingHead = 0;
    outgoingTail = 0;
    await(false);
  }

  @Override
  public synchronized boolean needsFlush() {
    return connection.isUp() && (awaitsRoom || ethernet.needsFlush());
  }

  private void await(boolean room) {
    if (awaitsRoom != room) {
      awaitsRoom = room;
      connection.awaitRoom(room);
    }
  }

  /**
   * The next attempt to connect, frames that found no room in the last batch, the next request or
   * report.
   */
  @Override
  public long deadline() {
    long frames = connection.isUp() ? ethernet.due(!awaitsRoom) : Long.MAX_VALUE;
    return Math.min(incomingDue, Math.min(frames, connection.due()));
  }

  /** Leaves unread data to the poller's next round, which is level-triggered. */
  @Override
  public void receive(ReceiveBatch batch) {
    progress();
    if (!connection.isUp()) {
      return;
    }
    boolean goesOn = take(batch);
    for (int reads = 0; goesOn && !batch.isFull() && reads < MOST_READS; reads++) {
      MemorySegment message = received.of(incoming, incomingTail, INCOMING - incomingTail);
      long read = linux.recvmsg(connection.socket(), message, DONT_WAIT_NO_SIGNAL);
      if (read > 0) {
        connection.heard(System.nanoTime());
        incomingTail += (int) read;
        goesOn = take(batch);
      } else {
        goesOn = false;
        if (!LinuxErrno.EAGAIN.is(read)) {
          end();
        }
      }
    }
    incomingDue = batch.isFull() ? System.nanoTime() : Long.MAX_VALUE;
  }

  private synchronized void progress() {
    if (connection.progress(System.nanoTime())) {
      end();
    }
  }

  private synchronized void end() {
    LOG.info(About.NOTHING, "the connection of {} has ended", description());
    connection.end(System.nanoTime());
    outgoingHead = 0;
    outgoingTail = 0;
    awaitsRoom = false;
    ethernet.clear();
    incomingHead = 0;
    incomingTail = 0;
    incomingDue = Long.MAX_VALUE;
  }

  /** Takes the frames that are complete; returns whether the connection continues. */
  private boolean take(ReceiveBatch batch) {
    while (incomingTail - incomingHead >= Integer.BYTES && !batch.isFull()) {
      int length = incoming.get(LENGTH, incomingHead);
      if (length < 0 || length > LONGEST_FRAME) {
        end();
        return false;
      }
      if (incomingTail - incomingHead < Integer.BYTES + length) {
        break;
      }
      ethernet.take(incomingHead + Integer.BYTES, length, Packet.NO_VLAN, batch);
      incomingHead += Integer.BYTES + length;
    }
    if (INCOMING - incomingHead < Integer.BYTES + LONGEST_FRAME || incomingHead == incomingTail) {
      MemorySegment.copy(incoming, incomingHead, incoming, 0, incomingTail - incomingHead);
      incomingTail -= incomingHead;
      incomingHead = 0;
    }
    return true;
  }

  @Override
  public synchronized void close() {
    connection.close();
  }
}
