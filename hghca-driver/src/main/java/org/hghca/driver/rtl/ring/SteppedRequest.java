package org.hghca.driver.rtl.ring;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.DataUnit;
import org.hghca.abi.NextUnit;
import org.hghca.abi.RemoteAddressUnit;

/**
 * The request of a send ring that goes to the card in steps, one after another in the same slot;
 * the completion of the last step completes the request. It is a READ that exceeds the limit of
 * bytes per fetch, in pieces; or a SEND or WRITE that would have the last PSN, after READs that
 * carry the PSN over the wrap. There is at most one, and nothing else of its ring is outstanding
 * meanwhile.
 *
 * <p>Started and rung under the ring's lock; a step is completed under the completion queue's lock,
 * too.
 */
final class SteppedRequest {
  private static final int UNIT = 16;
  private static final int DATA = NextUnit.SIZE + RemoteAddressUnit.SIZE;

  private final MemorySegment ring;

  /** The slot as it was posted. */
  private final MemorySegment whole;

  private final int most;

  /** Its position in the ring, and whether there is one. */
  private int at;

  private volatile boolean open;
  private long offset;

  /** The request's bytes, and how many of them are complete or in flight. */
  private long length;

  private long done;

  /** The READs before the request, null for none, and the number of packets left for them. */
  private WrapReads reads;

  private long packetsLeft;
  private int packetLog;

  /** The step in flight. */
  private long bytes;

  private boolean isRead;

  /** Whether there are steps after the one in flight. */
  private volatile boolean more;

  /** Whether the next step may be rung. */
  private volatile boolean waits;

  /**
   * Without a request.
   *
   * @param stride bytes of a slot
   * @param most maximum number of bytes per fetch
   */
  SteppedRequest(MemorySegment ring, int stride, int most) {
    this.ring = ring;
    this.whole = MemorySegment.ofArray(new long[stride / Long.BYTES]);
    this.most = most;
  }

  /** Whether a READ exceeds the limit of bytes per fetch. */
  boolean isTooLong(long bytes) {
    return bytes > most;
  }

  // ---- its steps

  /** Starts a READ, and writes its first piece. */
  void begin(int position, long slotOffset, long bytes) {
    begin(position, slotOffset, bytes, null, 0, 0);
  }

  /** Starts a request behind READs of so many packets, and writes the first READ. */
  void begin(
      int position,
      long slotOffset,
      long bytes,
      WrapReads before,
      long packetsBefore,
      int packetLog) {
    MemorySegment.copy(ring, slotOffset, whole, 0, whole.byteSize());
    at = position;
    offset = slotOffset;
    length = bytes;
    done = 0;
    reads = before;
    packetsLeft = packetsBefore;
    this.packetLog = packetLog;
    writeNext();
    open = true;
  }

  /** Whether the next step is a READ. */
  boolean isNextRead() {
    return reads == null || packetsLeft > 0;
  }

  /** Number of bytes of the next step. */
  long nextBytes() {
    if (packetsLeft > 0) {
      return reads.bytes(packetsLeft, packetLog);
    }
    return reads == null ? Math.min(most, length - done) : length;
  }

  /** Writes the next step, which is rung afterwards. */
  void writeNext() {
    bytes = nextBytes();
    isRead = isNextRead();
    if (packetsLeft > 0) {
      reads.write(ring, offset, (int) bytes);
      packetsLeft -= (bytes - 1 >>> packetLog) + 1;
    } else if (reads == null) {
      writePiece((int) bytes);
      done += bytes;
    } else {
      MemorySegment.copy(whole, 0, ring, offset, whole.byteSize());
      done = length;
    }
    more = done < length;
    waits = false;
  }

  private void writePiece(int piece) {
    RemoteAddressUnit.write(
        ring,
        offset + NextUnit.SIZE,
        RemoteAddressUnit.address(whole, NextUnit.SIZE) + done,
        RemoteAddressUnit.rkey(whole, NextUnit.SIZE));
    int size = (int) (writeElements(offset + DATA, piece) - offset) / UNIT;
    NextUnit.write(
        ring,
        offset,
        NextUnit.address(0, 0),
        NextUnit.size(0, 0),
        NextUnit.control(NextUnit.opcode(whole, 0), size, NextUnit.flags(whole, 0)),
        0);
  }

  /** Writes the data units of the piece and returns where they end. */
  private long writeElements(long first, int piece) {
    long next = first;
    long skip = done;
    int wanted = piece;
    for (long unit = DATA; wanted > 0; unit += UNIT) {
      int length = DataUnit.byteCount(whole, unit);
      if (skip >= length) {
        skip -= length;
        continue;
      }
      int part = (int) Math.min(wanted, length - skip);
      DataUnit.write(
          ring, next, part, DataUnit.lkey(whole, unit), DataUnit.address(whole, unit) + skip);
      next += UNIT;
      wanted -= part;
      skip = 0;
    }
    return next;
  }

  // ---- position

  /** Number of bytes of the step in flight. */
  long bytesUnderWay() {
    return bytes;
  }

  /** Whether the step in flight is a READ. */
  boolean isReadUnderWay() {
    return isRead;
  }

  /** Whether the request at a position is this one, and there are steps after that in flight. */
  boolean hasMore(int position) {
    return open && at == position && more;
  }

  /** Whether steps need a doorbell, now or later. */
  boolean needsDoorbells() {
    return open && (waits || more);
  }

  /** Whether it is incomplete, given the first incomplete position. */
  boolean isOpen(int seen) {
    return open && at - seen >= 0;
  }

  int at() {
    return at;
  }

  /** The step in flight is complete, and there is another. */
  void completeStep() {
    waits = true;
  }

  /** Whether a step needs a doorbell. */
  boolean waits() {
    return waits;
  }

  /** Clears it. */
  void close() {
    open = false;
    waits = false;
  }

  /** The slot as it was posted, of one that is open; else null. */
  MemorySegment whole() {
    return open ? whole : null;
  }
}
