package org.hghca.driver.memory;

import org.hghca.abi.MptFlags;
import org.hghca.provider.RingSlabs;
import org.hghca.vfio.DmaMapping;

/** Memory of the rings of a protection domain. Thread-safe. */
public final class DomainRings {
  private final QueueMemory memory;
  private final int pd;
  private final int accessBits;

  /** Rings that share keys; null if each needs its own. */
  private final RingSlabs<Registrar.Registration> shared;

  /** Null until a queue pair needs it. */
  private Ring empty;

  /**
   * Without rings.
   *
   * @param pd the number of the protection domain
   * @param accessBits what the card may do with them but read: {@link MptFlags#LOCAL_WRITE}, or 0
   * @param offsets whether a ring may begin anywhere in memory that has a key
   * @param alignment of such a ring, in bytes
   */
  public DomainRings(QueueMemory memory, int pd, int accessBits, boolean offsets, long alignment) {
    this.memory = memory;
    this.pd = pd;
    this.accessBits = accessBits;
    this.shared =
        offsets
            ? new RingSlabs<>(bytes -> memory.registerSlab(bytes, pd, accessBits), alignment)
            : null;
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
