package org.hghca.driver.memory;

import org.hghca.abi.MptFlags;
import org.hghca.provider.RingSlabs;
import org.hghca.vfio.DmaMapping;

/** Memory of the rings of a protection domain. Thread-safe. */
public final class DomainRings {
  /** A cache line: posting to one ring does not disturb the next. */
  private static final long QUEUE_PAIR_ALIGNMENT = 64;

  private final QueueMemory memory;
  private final int pd;
  private final int accessBits;

  /** Rings that share keys; null if each needs its own. */
  private final RingSlabs<Registrar.Registration> shared;

  /** Null until a queue pair needs it. */
  private Ring empty;

  private DomainRings(
      QueueMemory memory,
      int pd,
      int accessBits,
      boolean offsets,
      long alignment,
      boolean keepsOne) {
    this.memory = memory;
    this.pd = pd;
    this.accessBits = accessBits;
    this.shared =
        offsets
            ? new RingSlabs<>(
                bytes -> memory.registerSlab(bytes, pd, accessBits), alignment, keepsOne)
            : null;
  }

  /**
   * For the queue pairs of a protection domain, with which what is kept ends.
   *
   * @param pd its number
   * @param offsets whether a ring may begin anywhere in memory that has a key
   */
  public static DomainRings ofQueuePairs(QueueMemory memory, int pd, boolean offsets) {
    return new DomainRings(memory, pd, 0, offsets, QUEUE_PAIR_ALIGNMENT, true);
  }

  /**
   * For the completion queues of a context: nothing is kept when the last one is closed.
   *
   * @param pd the number of their protection domain
   * @param offsets whether a ring may begin at any page of memory that has a key
   */
  public static DomainRings ofCompletionQueues(QueueMemory memory, int pd, boolean offsets) {
    return new DomainRings(memory, pd, MptFlags.LOCAL_WRITE, offsets, DmaMapping.PAGE_SIZE, false);
  }

  /** Zeroed memory of a ring, registered with the card. */
  public Ring ring(long bytes) {
    return shared == null
        ? new Ring.Own(memory.register(bytes, pd, accessBits))
        : new Ring.Part(shared.allocate(bytes));
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
    if (shared != null) {
      shared.close();
    }
  }
}
