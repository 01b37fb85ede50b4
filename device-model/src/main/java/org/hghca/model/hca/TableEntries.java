package org.hghca.model.hca;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongUnaryOperator;
import org.hghca.model.card.HostMemory;
import org.hghca.vfio.DmaWindow;

/**
 * Reads entries of one of the card's tables, which are in host memory: in place where the bus has
 * windows, else by a copy. The place of an entry is looked up once for as long as neither mappings
 * nor tables change.
 */
final class TableEntries {
  private static final int SLOTS = 1024;

  private final HostMemory host;
  private final LongUnaryOperator places;
  private final int size;
  private final MemorySegment copy;

  /** By the low bits of the index: an index, the entry in place, and the epoch of both. */
  private final long[] indices = new long[SLOTS];

  private final MemorySegment[] entries = new MemorySegment[SLOTS];
  private final long[] epochs = new long[SLOTS];

  /**
   * @param places gives the I/O address of an entry by its index, {@link Icm#NONE} for none
   * @param size bytes of an entry
   */
  TableEntries(HostMemory host, LongUnaryOperator places, int size) {
    this.host = host;
    this.places = places;
    this.size = size;
    this.copy = Arena.ofAuto().allocate(size, 64);
  }

  /**
   * The content of an entry as it is now, to be read before the next call.
   *
   * @return null when it cannot be read; if it has a place, that is fatal for the card
   */
  MemorySegment read(long index) {
    int slot = (int) index & SLOTS - 1;
    if (entries[slot] != null
        && indices[slot] == index
        && epochs[slot] == host.current()
        && entries[slot].scope().isAlive()) {
      return entries[slot];
    }
    long at = places.applyAsLong(index);
    if (at == Icm.NONE) {
      return null;
    }
    DmaWindow window = host.window(at, size);
    if (window == null || !window.memory().scope().isAlive()) {
      return host.readTable(at, copy, size) ? copy : null;
    }
    indices[slot] = index;
    entries[slot] = window.memory().asSlice(at - window.iova(), size);
    epochs[slot] = host.epoch();
    return entries[slot];
  }

  /** The number of what is read now, for {@link #isGood}. */
  long epoch() {
    return host.epoch();
  }

  /**
   * Whether entries are where they were in an epoch: what was read of them then needs no other look
   * if the card alone writes them. Not where the bus does not say whether its mappings change.
   */
  boolean isGood(long then) {
    return then == host.current();
  }
}
