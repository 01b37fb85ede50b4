package org.hghca.sockets.stream;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import org.hghca.sockets.protocol.ConnectData;
import org.hghca.sockets.protocol.Framing;
import org.hghca.sockets.protocol.Grants;
import org.hghca.sockets.protocol.HalfEntry;
import org.hghca.sockets.protocol.MappingEntry;
import org.hghca.sockets.protocol.MessageWord;
import org.hghca.sockets.protocol.SendWindow;
import org.hghca.sockets.protocol.SlotWindow;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.RemoteMemory;
import org.hghca.verbs.SendRequest;

/**
 * What a stream sends: data, grants for what was read, and the words that end it. Its monitor
 * guards all but what completions report.
 */
final class Outgoing {
  /** Free bytes of the send buffer without which nothing is sent from it. */
  private static final int LOW_WATER = 2048;

  /** The longest message: a longer one would keep the peer waiting for its first bytes. */
  private static final int LONGEST = 1 << 16;

  /** What each message takes of the send buffer is a multiple of it: a header always fits. */
  static final int GRAIN = 8;

  private static final int NOTHING = -1;
  private static final long NOT_SENT = -1;

  private final Framing framing;
  private final int header;
  private final StreamMemory memory;
  private final QueuePair queuePair;
  private final int slot;
  private final int inline;
  private final int mappings;
  private final SendWindow window;
  private final Grants received;
  private final SendRequest data = new SendRequest(1);
  private final SendRequest control = new SendRequest(1);

  /** The longest message, without a header. */
  private int longest = LONGEST;

  private RemoteMemory peerTable;
  private int peerMappings;
  private ByteOrder peerOrder = HalfEntry.OWN_ORDER;

  /** Where in the peer's memory the next byte goes. */
  private long address;

  private int key;
  private long left;

  /** The entry of the peer's table that names the half that is granted next. */
  private int nextGrant = 1;

  /** Grants, and words that are to be sent when there is room. */
  private int halvesDue;

  /** The word that ends the stream, or {@link #NOTHING}. */
  private int ending = NOTHING;

  private boolean isEndSent;
  private volatile long lastStamp = NOT_SENT;
  private volatile boolean owes;
  private boolean closed;
  private long bytes;
  private long messages;

  Outgoing(
      Framing framing,
      StreamMemory memory,
      QueuePair queuePair,
      int slot,
      int inline,
      int mappings,
      SendWindow window,
      Grants received) {
    this.framing = framing;
    this.header = framing == Framing.WRITES ? 0 : SlotWindow.HEADER;
    this.memory = memory;
    this.queuePair = queuePair;
    this.slot = slot;
    this.inline = inline;
    this.mappings = mappings;
    this.window = window;
    this.received = received;
  }

  /** The peer is known. Nobody passes completions on now. */
  synchronized void open(ConnectData peer) {
    memory.setGrants(peer.bigEndian());
    peerTable = peer.table();
    peerMappings = peer.mappings();
    peerOrder = peer.bigEndian() ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    address = peer.half().address();
    key = peer.half().rkey();
    left = peer.half().length();
    if (framing == Framing.MESSAGES) {
      longest = (int) Math.min(LONGEST, left - SlotWindow.HEADER);
      left = Long.MAX_VALUE; // only credits limit it
    }
    window.open(peer.credits());
  }

  // What completions report, one thread at a time.

  void completed(long stamp) {
    window.completed(stamp);
  }

  void allowed(int limit, boolean half) {
    window.allowed(limit, half);
  }

  /** Whether something waits for room, for {@link #sendDue}. */
  boolean owes() {
    return owes;
  }

  /** Whether the word that ends the stream is sent, and has arrived. */
  boolean hasEnded() {
    return window.hasCompleted(lastStamp);
  }

  // Data.

  /**
   * Sends what there is room for.
   *
   * @return how many bytes
   */
  synchronized int write(ByteBuffer source) {
    int before = source.position();
    while (source.hasRemaining() && !closed) {
      int most = room(source.remaining());
      boolean copied = most + header <= inline;
      int length = copied ? most : roomInBuffer(most);
      if (length == 0) {
        break;
      }
      send(source, length, copied);
    }
    return source.position() - before;
  }

  /** Whether {@link #write} would send something. */
  synchronized boolean isWritable() {
    return hasRoom() && window.free() >= LOW_WATER;
  }

  private boolean hasRoom() {
    return ending == NOTHING && window.hasCredit() && (left > 0 || window.hasHalf());
  }

  /** How many bytes of those wanted the peer takes as one message. */
  private int room(int wanted) {
    if (!hasRoom()) {
      return 0;
    }
    if (left == 0) {
      takeHalf();
    }
    return (int) Math.min(Math.min(wanted, longest), left);
  }

  /** How many of those go through the send buffer as one message: its end may be near. */
  private int roomInBuffer(int most) {
    return window.free() < LOW_WATER ? 0 : Math.min(most, window.contiguous() - header);
  }

  private void takeHalf() {
    int at = memory.entry(window.takeHalf());
    address = HalfEntry.address(memory.segment(), at);
    key = HalfEntry.key(memory.segment(), at);
    left = HalfEntry.length(memory.segment(), at);
  }

  private void send(ByteBuffer source, int length, boolean copied) {
    int at = copied ? memory.inline() : memory.send() + window.offset();
    int from = source.position();
    memory.bytes().put(at + header, source, from, length);
    boolean signaled = window.send(copied ? 0 : held(header + length));
    data.wrId(RequestId.send(slot, window.stamp()));
    if (framing == Framing.WRITES) {
      data.rdmaWriteWithImmediate(address, key, MessageWord.ofData(length));
    } else {
      memory.bytes().putInt(at, MessageWord.ofData(length));
      data.send();
    }
    data.sge(memory.region(), at, header + length);
    post(copied, signaled);
    address += length;
    left -= length;
    bytes += length;
    messages++;
    source.position(from + length);
  }

  /** What a message takes of the send buffer. */
  private int held(int length) {
    return framing == Framing.WRITES ? length : length + GRAIN - 1 & -GRAIN;
  }

  // Memory beside the stream.

  /** {@link MappedStream#map}. */
  synchronized boolean map(MemoryRegion region, int index, long offset) {
    Objects.checkIndex(index, Math.min(mappings, peerMappings));
    if (closed || ending != NOTHING || !window.hasCredit()) {
      return false;
    }
    int at = memory.ownMapping(index);
    MappingEntry.put(
        memory.segment(),
        at,
        peerOrder,
        offset,
        region.address(),
        region.rkey(),
        (int) region.length());
    long there =
        peerTable.address() + HalfEntry.COUNT * HalfEntry.BYTES + (long) index * MappingEntry.BYTES;
    boolean signaled = window.send(0);
    data.wrId(RequestId.send(slot, window.stamp()))
        .rdmaWriteWithImmediate(there, peerTable.rkey(), MessageWord.ofMapping(index))
        .sge(memory.region(), at, MappingEntry.BYTES);
    post(MappingEntry.BYTES <= inline, signaled);
    return true;
  }

  private void post(boolean copied, boolean signaled) {
    if (copied) {
      data.inline();
    }
    if (signaled) {
      data.signaled();
    }
    queuePair.postSend(data);
  }

  /** {@link MappedStream#writeMapped}. */
  synchronized int writeMapped(ByteBuffer source, long offset) {
    int before = source.position();
    while (source.hasRemaining() && !closed && ending == NOTHING && window.hasPlace()) {
      long target = offset + source.position() - before;
      int entry = mappingOf(target);
      int length = entry < 0 ? 0 : roomInBuffer(mappedRoom(entry, target, source.remaining()));
      if (length == 0) {
        break;
      }
      int at = memory.send() + window.offset();
      memory.bytes().put(at, source, source.position(), length);
      boolean signaled = window.sendPlain(length);
      data.wrId(RequestId.send(slot, window.stamp()))
          .rdmaWrite(
              MappingEntry.address(memory.segment(), entry)
                  + target
                  - MappingEntry.offset(memory.segment(), entry),
              MappingEntry.key(memory.segment(), entry))
          .sge(memory.region(), at, length);
      post(false, signaled);
      source.position(source.position() + length);
    }
    return source.position() - before;
  }

  /** Where the entry is that the peer's memory at an offset has; -1 for none. */
  private int mappingOf(long offset) {
    for (int i = 0; i < mappings; i++) {
      int at = memory.mapping(i);
      long inside = offset - MappingEntry.offset(memory.segment(), at);
      if (inside >= 0 && inside < MappingEntry.length(memory.segment(), at)) {
        return at;
      }
    }
    return -1;
  }

  private int mappedRoom(int entry, long target, int wanted) {
    long end =
        MappingEntry.offset(memory.segment(), entry) + MappingEntry.length(memory.segment(), entry);
    return (int) Math.min(Math.min(wanted, LONGEST), end - target);
  }

  // Grants and ends.

  /** The second half of the receive buffer is free, of which the peer is told first of all. */
  synchronized void grantFirst() {
    if (framing == Framing.WRITES) {
      halvesDue++;
      sendDue();
    }
  }

  /** Bytes were read: tells the peer what it may send now, if that is much. */
  synchronized void granted() {
    if (received.isHalfDue()) {
      received.grantHalf();
      halvesDue++;
    }
    sendDue();
  }

  /** Says that nothing follows: {@link MessageWord#SHUTDOWN} or DISCONNECT. */
  synchronized void end(int word) {
    if (ending != MessageWord.DISCONNECT) {
      ending = word;
      lastStamp = NOT_SENT;
      isEndSent = false;
      sendDue();
    }
  }

  /** Sends what is due, as far as there is room. */
  synchronized void sendDue() {
    boolean complete = closed || trySendDue();
    if (!complete) {
      owes = true; // a completion that comes after the next try sees it
      complete = trySendDue();
    }
    owes = !complete;
  }

  private boolean trySendDue() {
    while (halvesDue > 0) {
      if (!window.hasControl()) {
        return false;
      }
      sendGrant();
    }
    if (received.isLimitDue() && !isEndSent) {
      if (!window.hasControl()) {
        return false;
      }
      sendWord(MessageWord.ofGrant(received.tellLimit()));
    }
    if (ending != NOTHING && !isEndSent) {
      if (!window.hasControl()) {
        return false;
      }
      sendWord(MessageWord.ofControl(ending));
      isEndSent = true;
      lastStamp = window.stamp();
    }
    return true;
  }

  private void sendGrant() {
    halvesDue--;
    int index = nextGrant;
    nextGrant = 1 - index;
    int word = MessageWord.ofGrant(received.tellLimit());
    window.sendControl();
    control
        .wrId(RequestId.send(slot, window.stamp()))
        .rdmaWriteWithImmediate(
            peerTable.address() + (long) index * HalfEntry.BYTES, peerTable.rkey(), word)
        .sge(memory.region(), memory.grant(index), HalfEntry.BYTES)
        .signaled();
    if (inline >= HalfEntry.BYTES) {
      control.inline();
    }
    queuePair.postSend(control);
  }

  private void sendWord(int word) {
    int at = memory.word(window.controlPlace());
    window.sendControl();
    control.wrId(RequestId.send(slot, window.stamp()));
    if (framing == Framing.WRITES) {
      control.rdmaWriteWithImmediate(peerTable.address(), peerTable.rkey(), word);
    } else {
      memory.bytes().putInt(at, word);
      control.send().sge(memory.region(), at, header);
    }
    queuePair.postSend(control.signaled());
  }

  /**
   * Tests whether the peer is there, by an empty write of which its program learns nothing. While
   * other messages are under way these tell. Where there are no empty writes, the connection
   * manager's TCP connection tests by itself.
   */
  synchronized void test() {
    boolean tests = framing == Framing.WRITES && ending != MessageWord.DISCONNECT;
    if (tests && !closed && window.hasControl()) {
      window.sendControl();
      control.wrId(RequestId.send(slot, window.stamp())).rdmaWrite(0, 0).signaled();
      queuePair.postSend(control);
    }
  }

  // Its end.

  /** Nothing is sent any more: memory and queue pair are to be closed. */
  synchronized void close() {
    closed = true;
    owes = false;
  }

  synchronized long bytes() {
    return bytes;
  }

  synchronized long messages() {
    return messages;
  }
}
