package org.hghca.driver.memory;

import org.hghca.vfio.DmaMapping;

/** Memory of the rings of a protection domain's queue pairs. Thread-safe. */
public final class DomainRings {
  private final RingSource source;

  /** Null until a queue pair needs it. */
  private Ring empty;

  /**
   * Takes memory from a source.
   *
   * @param source which is closed with this
   */
  public DomainRings(RingSource source) {
    this.source = source;
  }

  /** Zeroed memory of a ring, registered with the card. */
  public Ring ring(long bytes) {
    return source.ring(bytes);
  }

  /**
   * An always empty ring for all queue pairs without receives: the card may read it.
   *
   * @param bytes of the ring of such a queue pair, at most a page
   */
  public synchronized Ring emptyRing(long bytes) {
    if (bytes > DmaMapping.PAGE_SIZE) {
      throw new IllegalArgumentException("an empty ring of %d bytes".formatted(bytes));
    }
    if (empty == null) {
      empty = ring(DmaMapping.PAGE_SIZE);
    }
    return empty;
  }

  /** Frees the memory. No queue pair uses it. */
  public void close() {
    if (empty != null) {
      empty.close();
    }
    source.close();
  }
}
