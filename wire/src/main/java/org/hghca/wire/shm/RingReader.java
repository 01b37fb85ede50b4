package org.hghca.wire.shm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.wire.MemoryPieces;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketRun;
import org.hghca.wire.PortAddresses;

/**
 * The end of a ring that reads records from it. The one who writes it may write anything at any
 * time: whatever decides about memory is read once, and checked then. Used by one thread at a time.
 */
final class RingReader {
  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;

  private final PairPage own;
  private final PairPage peers;
  private MemorySegment ring;
  private int bytes;
  private long begin;
  private long head;
  private long tail;
  private long told;

  // The record that is next, as it was checked.
  private long second;
  private long fifth;
  private int record;
  private int payload;

  /** Lines that were read, and of which the writer knows. */
  private long lines;

  private long linesTold;

  /** Whether a line is next. */
  private boolean isLine;

  /** How many packets of the run that is next have come one by one. */
  private int unfolded;

  /**
   * @param own the page that this writes
   * @param peers the page that the writer writes
   */
  RingReader(PairPage own, PairPage peers) {
    this.own = own;
    this.peers = peers;
  }

  boolean hasRing() {
    return ring != null;
  }

  /** Where the first ring must begin, or the next one behind a record that leads to it. */
  long position() {
    return tail;
  }

  /**
   * Continues in a ring that begins at {@link #position}.
   *
   * @param memory mapped twice
   */
  void continueIn(MemorySegment memory, int size) {
    ring = memory;
    bytes = size;
    begin = tail;
  }

  /** Whether something was written that was not read. */
  boolean hasMore() {
    return peers.head() != tail
        || Lines.follows(Lines.first(peers.memory(), Lines.at(lines)), lines);
  }

  /**
   * Looks at the next record.
   *
   * @return its kind, 0 where there is none
   * @throws ProtocolException when the writer has written what cannot be
   */
  int next() throws ProtocolException {
    isLine = isLineNext();
    if (isLine) {
      return RecordHeader.PACKET;
    }
    if (tail == head) {
      head = peers.head();
      if (tail == head) {
        return 0;
      }
      isLine = isLineNext(); // it was written before what has been published now
      if (isLine) {
        return RecordHeader.PACKET;
      }
      if (ring == null) {
        head = tail;
        return 0; // its message is on its way
      }
    }
    long ahead = head - tail;
    if (ahead < RecordHeader.UNIT || (ahead & RecordHeader.UNIT - 1) != 0) {
      throw new ProtocolException("bytes in the ring", ahead);
    }
    long at = at();
    long first = ring.get(WORD, at);
    second = ring.get(WORD, at + 8);
    fifth = ring.get(WORD, at + 0x20);
    record = RecordHeader.bytes(first);
    payload = RecordHeader.payload(first);
    int header = RecordHeader.size(second);
    if (record < header
        || record > Math.min(ahead, bytes)
        || (record & RecordHeader.UNIT - 1) != 0) {
      throw new ProtocolException("bytes of a record", record);
    }
    if (payload < 0 || payload > record - header) {
      throw new ProtocolException("bytes of payload", payload);
    }
    check();
    return RecordHeader.kind(second);
  }

  /** Whether the next line stands before the next record of the ring. */
  private boolean isLineNext() throws ProtocolException {
    MemorySegment page = peers.memory();
    long at = Lines.at(lines);
    long first = Lines.first(page, at);
    if (!Lines.follows(first, lines)) {
      return false;
    }
    fifth = page.get(WORD, at + 0x20);
    if (!Lines.isAt(fifth, tail)) {
      return false;
    }
    second = page.get(WORD, at + 8);
    payload = Lines.payload(first);
    if (RecordHeader.kind(second) != RecordHeader.PACKET
        || RecordHeader.size(second) != RecordHeader.SHORT
        || !Lines.fits(RecordHeader.opcode(second), payload)) {
      throw new ProtocolException("line", second);
    }
    return true;
  }

  private void check() throws ProtocolException {
    switch (RecordHeader.kind(second)) {
      case RecordHeader.PACKET -> {
        if (payload > Packet.MAX_PAYLOAD) {
          throw new ProtocolException("bytes of payload of a packet", payload);
        }
      }
      case RecordHeader.FRAME -> {
        if (payload > Packet.MAX_FRAME) {
          throw new ProtocolException("bytes of a frame", payload);
        }
      }
      case RecordHeader.RUN -> {
        int packets = RecordHeader.packets(fifth);
        int mtu = RecordHeader.mtu(fifth);
        if (packets < 1 || mtu < 1 || mtu > Packet.MAX_PAYLOAD || !fills(packets, mtu)) {
          throw new ProtocolException("packets of a run", packets);
        }
      }
      case RecordHeader.CONTINUED -> {
        // says nothing else
      }
      default -> throw new ProtocolException("kind of a record", RecordHeader.kind(second));
    }
  }

  private boolean fills(int packets, int mtu) {
    return payload > (long) (packets - 1) * mtu && payload <= (long) packets * mtu;
  }

  /** Reads the next record, which is a packet or a frame, with its payload. */
  void read(Packet into, PortAddresses to, PortAddresses from, long ownMac, long peersMac) {
    if (isLine) {
      readLine(into, to, from, ownMac, peersMac);
      return;
    }
    long at = at();
    RecordHeader.read(ring, at, second, fifth, into, to, from, ownMac, peersMac);
    into.length = payload;
    if (payload > 0) {
      MemorySegment.copy(ring, at + RecordHeader.size(second), into.payload(), 0, payload);
    }
  }

  private void readLine(
      Packet into, PortAddresses to, PortAddresses from, long ownMac, long peersMac) {
    MemorySegment page = peers.memory();
    long at = Lines.at(lines);
    RecordHeader.read(page, at, second, fifth, into, to, from, ownMac, peersMac);
    into.length = payload;
    if (payload > 0) {
      Lines.readPayload(page, at, into);
    }
  }

  /** Reads the next record, which is a run: its payload stays in the ring until {@link #skip}. */
  void read(PacketRun into, PortAddresses to, PortAddresses from, long ownMac, long peersMac) {
    long at = at();
    into.clear();
    RecordHeader.read(ring, at, second, fifth, into.first, to, from, ownMac, peersMac);
    into.lastOperation = RecordHeader.lastOperation(second);
    into.packets = RecordHeader.packets(fifth);
    into.mtu = RecordHeader.mtu(fifth);
    into.bytes = payload;
    into.payload.add(ring, at + RecordHeader.size(second), payload, MemoryPieces.Kind.SHARED);
  }

  int unfolded() {
    return unfolded;
  }

  void unfold() {
    unfolded++;
  }

  /** Goes on behind the record that was {@link #next}. */
  void skip() {
    if (isLine) {
      lines++;
      return;
    }
    tail += record;
    unfolded = 0;
  }

  /**
   * Gives the writer the room of what was read.
   *
   * @return whether there was anything
   */
  boolean release() {
    if (lines - linesTold >= Lines.TOLD_EACH) {
      linesTold = lines;
      own.linesTaken(lines);
    }
    if (tail == told) {
      return false;
    }
    told = tail;
    own.tail(tail);
    return true;
  }

  private long at() {
    return tail - begin & bytes - 1L;
  }
}
