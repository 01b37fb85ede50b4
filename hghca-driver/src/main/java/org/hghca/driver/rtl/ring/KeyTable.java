package org.hghca.driver.rtl.ring;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.hghca.driver.memory.KeyedMemory;

/**
 * The memory of applications by key, for a card that stops at a request with a wrong key.
 * Thread-safe: finding an entry is one plain load, and an entry never changes. A thread that must
 * not find a removed entry must be ordered after the removal by a lock.
 */
public final class KeyTable {
  private static final int INDEX = 0xff_ffff;

  private static final VarHandle ENTRIES = MethodHandles.arrayElementVarHandle(KeyedMemory[].class);

  /** By the low bits of a key, of which a power of two needs no bounds check. */
  private final KeyedMemory[] entries;

  /**
   * An empty table.
   *
   * @param capacity 1 or more; a key's low 24 bits are below it
   */
  public KeyTable(int capacity) {
    entries = new KeyedMemory[Integer.highestOneBit(2 * capacity - 1)];
  }

  /** The memory of a key; null if there is none. */
  public KeyedMemory find(int key) {
    KeyedMemory[] entries = this.entries;
    KeyedMemory entry = entries[key & entries.length - 1];
    return entry != null && entry.key() == key ? entry : null;
  }

  public void put(KeyedMemory entry) {
    ENTRIES.setRelease(entries, entry.key() & INDEX, entry);
  }

  public void remove(int key) {
    ENTRIES.setRelease(entries, key & INDEX, null);
  }
}
