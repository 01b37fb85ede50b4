package org.hghca.icm;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Entries of a table whose ICM is mapped while this range is open. Thread-safe; closing twice does
 * nothing.
 */
public final class IcmRange implements AutoCloseable {
  private final TableMemory memory;
  private final long firstIndex;
  private final long count;
  private final AtomicBoolean closed = new AtomicBoolean();

  IcmRange(TableMemory memory, long firstIndex, long count) {
    this.memory = memory;
    this.firstIndex = firstIndex;
    this.count = count;
  }

  public IcmTable table() {
    return memory.table();
  }

  /** Index of the first entry. */
  public long firstIndex() {
    return firstIndex;
  }

  /** How many entries. */
  public long count() {
    return count;
  }

  /**
   * Releases the entries; the card must no longer use them. Memory that backs no entry in use is
   * unmapped if the card allows that.
   */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      memory.release(firstIndex, count);
    }
  }
}
