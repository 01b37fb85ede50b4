package org.hghca.wire.shm;

import java.lang.foreign.MemorySegment;
import org.hghca.wire.MemoryPieces;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketRun;
import org.hghca.wire.PortAddresses;

/**
 * The end of a ring that writes records into it. What it has written is seen by the reader with the
 * next {@link #publish}; of a line, at once. Used by one thread at a time.
 */
final class RingWriter {
  /** A run is at most this part of the ring, so that the reader copies one and this another. */
  private static final int PARTS = 4;

  /** Its copy delays the JVM's safepoints. */
  private static final int LONGEST_RUN = 1 << 18;

  private final PairPage own;
  private final PairPage peers;
  private final MemoryPieces target = new MemoryPieces();
  private MemorySegment ring;
  private int bytes;

  /** Position of the first byte of the ring. */
  private long begin;

  private long head;
  private long published;

  /** How far the reader is known to be. */
  private long tail;

  /** Lines that were written, that were so when it published last, and that are known as read. */
  private long lines;

  private long linesPublished;
  private long linesTaken;

  /**
   * @param own the page that this writes
   * @param peers the page that the reader writes
   */
  RingWriter(PairPage own, PairPage peers) {
    this.own = own;
    this.peers = peers;
  }

  /** Whether there is a ring. */
  boolean hasRing() {
    return ring != null;
  }

  /** Bytes of the ring, 0 while there is none. */
  int bytes() {
    return bytes;
  }

  /**
   * Where the first byte of the next ring is: behind the record that leads to it, where there is a
   * ring.
   */
  long nextBegin() {
    return ring == null ? head : head + RecordHeader.UNIT;
  }

  /**
   * Continues in another ring, of which the reader knows by the time that it gets there. The old
   * one has {@link #hasRoom room} for one more record.
   *
   * @param memory mapped twice
   */
  void continueIn(MemorySegment memory, int size) {
    if (ring != null) {
      RecordHeader.writeContinued(ring, at());
      head += RecordHeader.UNIT;
    }
    ring = memory;
    bytes = size;
    begin = head;
  }

  /** Whether there is room for a record of a length, and for one that leads to the next ring. */
  boolean hasRoom(int record) {
    long most = (long) bytes - record - RecordHeader.UNIT;
    if (head - Math.max(tail, begin) > most) {
      tail = peers.tail();
    }
    return head - Math.max(tail, begin) <= most;
  }

  /** How far the reader was when that was last looked at. */
  long tail() {
    return tail;
  }

  /** The most bytes of payload of a run. */
  int longestRun() {
    return Math.min(bytes / PARTS, LONGEST_RUN);
  }

  /** Bytes of the record of a packet. */
  static int size(Packet packet, PortAddresses own, PortAddresses peers) {
    return record(RecordHeader.size(packet, own, peers), packet.length);
  }

  private static int record(int header, int payload) {
    return header + payload + RecordHeader.UNIT - 1 & -RecordHeader.UNIT;
  }

  /** Bytes of the record of a run. */
  static int size(PacketRun run, PortAddresses own, PortAddresses peers) {
    return record(RecordHeader.size(run.first, own, peers), run.bytes);
  }

  /** Writes a packet, for which there is room. */
  void write(Packet packet, PortAddresses from, PortAddresses to) {
    int header = RecordHeader.size(packet, from, to);
    if (header == RecordHeader.SHORT && Lines.fits(packet.opcode, packet.length) && hasLine()) {
      writeLine(packet, from, to);
      return;
    }
    int record = record(header, packet.length);
    long at = at();
    RecordHeader.write(ring, at, header, record, packet.length, packet, from, to);
    if (packet.length > 0) {
      MemorySegment.copy(packet.payload(), 0, ring, at + header, packet.length);
    }
    head += record;
  }

  private boolean hasLine() {
    if (lines - linesTaken == Lines.COUNT) {
      linesTaken = peers.linesTaken();
    }
    return lines - linesTaken < Lines.COUNT;
  }

  private void writeLine(Packet packet, PortAddresses from, PortAddresses to) {
    MemorySegment page = own.memory();
    long at = Lines.at(lines);
    RecordHeader.writeLine(page, at, head, packet, from, to);
    if (packet.length > 0) {
      Lines.writePayload(page, at, packet);
    }
    Lines.show(page, at, lines++, packet.length);
  }

  /** Writes a run, for which there is room: its payload is copied now. */
  void write(PacketRun run, PortAddresses from, PortAddresses to) {
    int header = RecordHeader.size(run.first, from, to);
    int record = record(header, run.bytes);
    long at = at();
    RecordHeader.write(ring, at, header, record, run, from, to);
    target.clear();
    target.add(ring, at + header, run.bytes, MemoryPieces.Kind.SHARED);
    run.payload.copyTo(target);
    head += record;
  }

  private long at() {
    return head - begin & bytes - 1L;
  }

  /**
   * Shows the reader what was written.
   *
   * @return whether there was anything
   */
  boolean publish() {
    boolean any = lines != linesPublished;
    linesPublished = lines;
    if (head != published) {
      published = head;
      own.head(head);
      any = true;
    }
    return any;
  }
}
