package org.hghca.model.rtl;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.hghca.abi.Mpt;

/**
 * The cache of memory keys: two ways of 4096 lines, one entry each. An entry from software is
 * written back to the host when its line is needed for another; if both ways are taken, the second
 * is replaced.
 */
final class KeyCache {
  /** Bytes of an entry in ICM. */
  static final int ENTRY_SIZE = 64;

  private static final int SETS = 4096;
  private static final int WAYS = 2;

  /** A memory key's entry as the card uses it. */
  static final class Entry {
    private int index;
    private boolean dirty;
    private final MemorySegment image = MemorySegment.ofArray(new byte[ENTRY_SIZE]);
    int flags;
    int key;
    int pd;
    long start;
    long length;
    long firstPage;

    private void decode(MemorySegment mailbox) {
      flags = Mpt.FLAGS.get(mailbox);
      key = Mpt.KEY.get(mailbox);
      pd = Mpt.PD.get(mailbox);
      start = Mpt.START.getLong(mailbox);
      length = Mpt.LENGTH.getLong(mailbox);
      firstPage = Mpt.MTT_SEGMENT.getLong(mailbox);
    }
  }

  private final TableBacking table;
  private final int indexMask;
  private final Entry[] lines = new Entry[SETS * WAYS];

  /**
   * @param entries of the table, a power of two: as many low bits of a key are its index
   */
  KeyCache(TableBacking table, int entries) {
    this.table = table;
    this.indexMask = entries - 1;
  }

  /** The entry of a key, by its low bits; good until the next call. */
  Entry get(int key) {
    int index = key & indexMask;
    Entry entry = find(index);
    if (entry == null) {
      entry = makeRoom(index);
      table.read(offset(index), entry.image);
      Beats.reverse(entry.image, ENTRY_SIZE);
      entry.decode(entry.image);
    }
    return entry;
  }

  /** Stores a whole entry, without reading the previous one. */
  void replace(int number, MemorySegment mailbox) {
    int index = number & indexMask;
    Entry entry = find(index);
    if (entry == null) {
      entry = makeRoom(index);
    }
    MemorySegment.copy(mailbox, 0, entry.image, 0, ENTRY_SIZE);
    entry.decode(entry.image);
    entry.dirty = true;
  }

  /** Makes an entry refuse every access. */
  void clear(int number) {
    int index = number & indexMask;
    Entry entry = find(index);
    if (entry == null) {
      entry = makeRoom(index);
    }
    entry.image.fill((byte) 0);
    entry.decode(entry.image);
    entry.dirty = true;
  }

  private Entry find(int index) {
    int set = index % SETS * WAYS;
    for (int way = 0; way < WAYS; way++) {
      Entry entry = lines[set + way];
      if (entry != null && entry.index == index) {
        return entry;
      }
    }
    return null;
  }

  private Entry makeRoom(int index) {
    int set = index % SETS * WAYS;
    int at = lines[set] == null ? set : set + WAYS - 1;
    Entry old = lines[at];
    if (old != null && old.dirty) {
      Beats.reverse(old.image, ENTRY_SIZE);
      table.write(offset(old.index), old.image);
    }
    Entry entry = old == null ? new Entry() : old;
    entry.index = index;
    entry.dirty = false;
    lines[at] = entry;
    return entry;
  }

  private static long offset(int index) {
    return (long) index * ENTRY_SIZE;
  }

  void reset() {
    Arrays.fill(lines, null);
  }
}
