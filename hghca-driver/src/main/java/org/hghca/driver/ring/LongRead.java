package org.hghca.driver.ring;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.DataUnit;
import org.hghca.abi.NextUnit;
import org.hghca.abi.RemoteAddressUnit;

/**
 * The READ of a send ring that exceeds the limit of bytes per fetch: it is passed to the card in
 * pieces, one after another in the same slot, and the completion of the last one completes the
 * READ. There is at most one, and nothing else of its ring is outstanding meanwhile.
 *
 * <p>Started and rung under the ring's lock; a piece is completed under the completion queue's
 * lock, too.
 */
final class LongRead {
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

  /** Number of bytes complete, in flight, and remaining. */
  private long done;

  private int piece;
  private volatile long left;

  /** Whether the next piece may be rung. */
  private volatile boolean waits;

  /**
   * Without a READ.
   *
   * @param stride bytes of a slot
   * @param most maximum number of bytes per fetch
   */
  LongRead(MemorySegment ring, int stride, int most) {
    this.ring = ring;
    this.whole = MemorySegment.ofArray(new long[stride / Long.BYTES]);
    this.most = most;
  }

  /** Whether a READ exceeds the limit of bytes per fetch. */
  boolean isToo(long bytes) {
    return bytes > most;
  }

  /** Starts a READ and writes its first piece. */
  void begin(int position, long slotOffset, long bytes) {
    MemorySegment.copy(ring, slotOffset, whole, 0, whole.byteSize());
    at = position;
    offset = slotOffset;
    done = 0;
    piece = 0;
    left = bytes;
    writeNext();
    open = true;
  }

  /** Writes the next piece, which is rung afterwards. */
  void writeNext() {
    done += piece;
    piece = next();
    long rest = left; // of one writer
    left = rest - piece;
    waits = false;
    RemoteAddressUnit.write(
        ring,
        offset + NextUnit.SIZE,
        RemoteAddressUnit.address(whole, NextUnit.SIZE) + done,
        RemoteAddressUnit.rkey(whole, NextUnit.SIZE));
    int size = (int) (writeElements(offset + DATA) - offset) / UNIT;
    NextUnit.write(
        ring,
        offset,
        NextUnit.address(0, 0),
        NextUnit.size(0, 0),
        NextUnit.control(NextUnit.opcode(whole, 0), size, NextUnit.flags(whole, 0)),
        0);
  }

  /** Writes the data units of the piece and returns where they end. */
  private long writeElements(long first) {
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

  /** Number of bytes of the next piece. */
  int next() {
    return (int) Math.min(most, left);
  }

  /** Number of its bytes in flight. */
  int underWay() {
    return piece;
  }

  /** Whether a position is that of the READ, and pieces are left after the one in flight. */
  boolean hasMore(int position) {
    return open && at == position && left > 0;
  }

  /** Whether pieces need a doorbell, now or later. */
  boolean goesOn() {
    return open && (waits || left > 0);
  }

  /** Whether it is incomplete, given the first incomplete position. */
  boolean isOpen(int seen) {
    return open && at - seen >= 0;
  }

  int at() {
    return at;
  }

  /** The piece in flight is complete, and there is another. */
  void goOn() {
    waits = true;
  }

  /** Whether a piece needs a doorbell. */
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
