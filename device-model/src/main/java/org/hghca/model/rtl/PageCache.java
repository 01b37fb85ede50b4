package org.hghca.model.rtl;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The cache of page addresses: two ways of 512 lines, four entries each. A line is read before any
 * of its entries is written, and written back to the host when it is needed for another; if both
 * ways are taken, the one that was filled first is replaced.
 */
final class PageCache {
  /** Bytes of an entry in ICM. */
  static final int ENTRY_SIZE = Long.BYTES;

  private static final int ENTRIES = 4;
  private static final int LINE_SIZE = ENTRIES * ENTRY_SIZE;
  private static final int SETS = 512;
  private static final int WAYS = 2;

  private static final ValueLayout.OfLong ADDRESS =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final class Line {
    private final MemorySegment image = MemorySegment.ofArray(new long[ENTRIES]);
    private int number = -1;
    private boolean dirty;
  }

  private final TableBacking table;
  private final int indexMask;
  private final Line[] lines = new Line[SETS * WAYS];
  private final byte[] next = new byte[SETS];

  /**
   * @param entries of the table, a power of two: as many low bits of an entry's number count
   */
  PageCache(TableBacking table, int entries) {
    this.table = table;
    this.indexMask = entries - 1;
  }

  /** The bus address in an entry. */
  long get(long index) {
    return line(index).image.get(ADDRESS, at(index));
  }

  void set(long index, long address) {
    Line line = line(index);
    line.image.set(ADDRESS, at(index), address);
    line.dirty = true;
  }

  private static long at(long index) {
    return (index & ENTRIES - 1) * Long.BYTES;
  }

  private Line line(long index) {
    int number = (int) ((index & indexMask) / ENTRIES);
    int set = number % SETS;
    for (int way = 0; way < WAYS; way++) {
      Line line = lines[set * WAYS + way];
      if (line != null && line.number == number) {
        return line;
      }
    }
    int at = set * WAYS + next[set];
    next[set] = (byte) (1 - next[set]);
    return fill(at, number);
  }

  private Line fill(int at, int number) {
    if (lines[at] == null) {
      lines[at] = new Line();
    }
    Line line = lines[at];
    if (line.dirty) {
      table.write((long) line.number * LINE_SIZE, line.image);
    }
    line.number = number;
    line.dirty = false;
    table.read((long) number * LINE_SIZE, line.image);
    return line;
  }

  void reset() {
    Arrays.fill(lines, null);
    Arrays.fill(next, (byte) 0);
  }
}
