package org.hghca.driver.memory;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * What the keys of applications' memory stand for, for a card that does not survive a request that
 * names a wrong one. Thread-safe: finding an entry is one plain load, and an entry never changes.
 * Who must not find one that was removed has to come after the removal by a lock.
 */
public final class KeyTable {
  private static final int INDEX = 0xff_ffff;

  private final AtomicReferenceArray<Entry> entries;

  /**
   * An empty table.
   *
   * @param capacity a key's low 24 bits are below it
   */
  public KeyTable(int capacity) {
    entries = new AtomicReferenceArray<>(capacity);
  }

  /**
   * Memory that a key stands for.
   *
   * @param pd the number of its protection domain
   * @param start the address of the first byte
   * @param length in bytes, exactly as it was registered
   * @param access bits of {@link org.hghca.verbs.AccessFlag}
   */
  public record Entry(int key, int pd, long start, long length, int access) {
    /** Whether bytes lie in the memory. */
    public boolean contains(long address, long bytes) {
      long offset = address - start;
      return (offset | length - bytes - offset) >= 0;
    }
  }

  /** What a key stands for; null for nothing. */
  public Entry find(int key) {
    int index = key & INDEX;
    Entry entry = index < entries.length() ? entries.getPlain(index) : null;
    return entry != null && entry.key == key ? entry : null;
  }

  public void put(Entry entry) {
    entries.setRelease(entry.key & INDEX, entry);
  }

  public void remove(int key) {
    entries.setRelease(key & INDEX, null);
  }
}
