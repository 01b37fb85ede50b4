package org.hghca.wire;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.hghca.linux.LibraryCopy;
import org.hghca.linux.OrderedCopy;

/** Bytes that lie in pieces of this process's memory, in the order of the pieces. */
public final class MemoryPieces {
  /** What is known of the memory of a piece. */
  public enum Kind {
    /** Its arena may be closed at any time, or its file truncated. */
    MAY_END,
    /** It is there as long as the piece is used. */
    STAYS,
    /** The same, and another process uses it, too. */
    SHARED
  }

  private MemorySegment[] segments = new MemorySegment[32];
  private long[] offsets = new long[32];
  private long[] lengths = new long[32];
  private Kind[] kinds = new Kind[32];
  private int count;

  /** Forgets all pieces. */
  public void clear() {
    Arrays.fill(segments, 0, count, null);
    count = 0;
  }

  /**
   * Adds bytes of a segment, which must have them; a neighbor of the last piece becomes its end.
   */
  public void add(MemorySegment segment, long offset, long length, Kind kind) {
    int last = count - 1;
    if (last >= 0 && segments[last].equals(segment) && offsets[last] + lengths[last] == offset) {
      lengths[last] += length;
      return;
    }
    if (count == segments.length) {
      segments = Arrays.copyOf(segments, 2 * count);
      offsets = Arrays.copyOf(offsets, 2 * count);
      lengths = Arrays.copyOf(lengths, 2 * count);
      kinds = Arrays.copyOf(kinds, 2 * count);
    }
    segments[count] = segment;
    offsets[count] = offset;
    kinds[count] = kind;
    lengths[count++] = length;
  }

  /**
   * Copies all bytes to others, which must be as many. A reader that sees the last byte of a piece
   * sees those before it.
   *
   * @throws IllegalStateException if the arena of a segment is closed
   */
  public void copyTo(MemoryPieces target) {
    int at = 0;
    long skip = 0;
    for (int to = 0; to < target.count; to++) {
      for (long done = 0; done < target.lengths[to]; ) {
        long size = Math.min(lengths[at] - skip, target.lengths[to] - done);
        copy(
            segments[at],
            offsets[at] + skip,
            target.segments[to],
            target.offsets[to] + done,
            size,
            goesByLibrary(kinds[at], target.kinds[to], size));
        done += size;
        skip += size;
        if (skip == lengths[at]) {
          at++;
          skip = 0;
        }
      }
    }
  }

  /**
   * Copies some of the bytes.
   *
   * @param from the first of them, counted from the first of all
   */
  void copyTo(long from, MemorySegment target, long size) {
    long skip = from;
    long done = 0;
    for (int at = 0; done < size; at++) {
      long part = Math.min(lengths[at] - skip, size - done);
      if (part > 0) {
        MemorySegment.copy(segments[at], offsets[at] + skip, target, done, part);
        done += part;
      }
      skip = Math.max(0, skip - lengths[at]);
    }
  }

  private static boolean goesByLibrary(Kind from, Kind to, long size) {
    return size >= LibraryCopy.LEAST
        && from != Kind.MAY_END
        && to != Kind.MAY_END
        && (from == Kind.SHARED || to == Kind.SHARED);
  }

  private static void copy(
      MemorySegment from,
      long offset,
      MemorySegment to,
      long target,
      long size,
      boolean byLibrary) {
    int width = OrderedCopy.lastWidth(to, target + size, size);
    long last = size - width;
    if (!byLibrary || !LibraryCopy.copy(from, offset, to, target, last)) {
      MemorySegment.copy(from, offset, to, target, last);
    }
    OrderedCopy.storeLast(from, offset + last, to, target + last, width);
  }
}
