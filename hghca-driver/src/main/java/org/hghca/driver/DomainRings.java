package org.hghca.driver;

import org.hghca.driver.memory.Registrar;
import org.hghca.driver.memory.Ring;
import org.hghca.provider.RingSlabs;
import org.hghca.vfio.DmaMapping;

/** Memory of the rings of a protection domain's queue pairs. Thread-safe. */
final class DomainRings {
  /** A cache line: what posts to one ring does not disturb the next. */
  private static final long RING_ALIGNMENT = 64;

  private final QueueMemory memory;
  private final int pd;

  /** Rings that share keys; null where each needs one of its own. */
  private final RingSlabs<Registrar.Registration> shared;

  /** Null until a queue pair needs it. */
  private Ring empty;

  /**
   * No rings so far.
   *
   * @param pd the number of the protection domain
   * @param offsets whether a ring may begin anywhere in memory that has a key
   */
  DomainRings(QueueMemory memory, int pd, boolean offsets) {
    this.memory = memory;
    this.pd = pd;
    this.shared =
        offsets ? new RingSlabs<>(bytes -> memory.registerSlab(bytes, pd), RING_ALIGNMENT) : null;
  }

  /** Memory of a queue pair's ring, zeroed, that the card knows. */
  Ring ring(long bytes) {
    return shared == null
        ? new Ring.Own(memory.register(bytes, pd, 0))
        : new Ring.Part(shared.allocate(bytes));
  }

  /**
   * A ring in which nothing is ever posted, for all queue pairs that take no receives: the card may
   * look there for one.
   *
   * @param bytes that the ring of such a queue pair would have, at most a page
   */
  synchronized Ring emptyRing(long bytes) {
    if (bytes > DmaMapping.PAGE_SIZE) {
      throw new IllegalArgumentException("an empty ring of %d bytes".formatted(bytes));
    }
    if (empty == null) {
      empty = ring(DmaMapping.PAGE_SIZE);
    }
    return empty;
  }

  /** Gives the memory back. No queue pair uses any of it. */
  void close() {
    if (empty != null) {
      empty.close();
    }
    if (shared != null) {
      shared.close();
    }
  }
}
