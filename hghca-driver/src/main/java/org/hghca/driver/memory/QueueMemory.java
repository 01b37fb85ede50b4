package org.hghca.driver.memory;

import org.hghca.abi.MptFlags;
import org.hghca.provider.Undo;
import org.hghca.provider.queue.RingSlabs;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.PciFunction;

/** Memory of queues, which the driver allocates and registers with the card. Thread-safe. */
public final class QueueMemory {
  /** Posting to one ring does not disturb the next. */
  private static final long CACHE_LINE = 64;

  private final PciFunction function;
  private final Registrar registrar;

  /** Memory of rings with one key each: the card addresses a ring from its region's start. */
  private final RingSlabs<MappedSlab> rings;

  private record MappedSlab(DmaMapping mapping) implements RingSlabs.Backing {
    @Override
    public void close() {
      mapping.close();
    }
  }

  public QueueMemory(PciFunction function, Registrar registrar) {
    this.function = function;
    this.registrar = registrar;
    this.rings =
        new RingSlabs<>(
            bytes -> new MappedSlab(function.allocate(bytes)), DmaMapping.PAGE_SIZE, true);
  }

  /** Allocates memory for a queue and registers it; the registration owns it. */
  public Registrar.Registration register(long bytes, int pd, int accessBits) {
    return registered(rings.allocate(bytes), pd, accessBits);
  }

  /** Registers memory once more, under a key of its own; the first registration owns it. */
  public Registrar.Registration registerAgain(
      Registrar.Registration first, int pd, int accessBits) {
    return registrar.registerAgain(first, pd, accessBits);
  }

  /**
   * For the queue pairs of a protection domain, with which what is kept ends.
   *
   * @param pd its number
   * @param offsets whether a ring may begin anywhere in memory that has a key
   */
  public RingSource ofDomain(int pd, boolean offsets) {
    return offsets ? slabs(pd, 0, CACHE_LINE, true) : single(pd, 0);
  }

  /**
   * For the queue pairs of all domains of a context: nothing is kept when the last one is closed.
   *
   * @param pd the domain of the keys
   */
  public RingSource ofAllDomains(int pd) {
    return slabs(pd, 0, CACHE_LINE, false);
  }

  /**
   * For the completion queues of a context: nothing is kept when the last one is closed.
   *
   * @param pd the number of their protection domain
   * @param offsets whether a ring may begin at any page of memory that has a key
   */
  public RingSource ofCompletionQueues(int pd, boolean offsets) {
    return offsets
        ? slabs(pd, MptFlags.LOCAL_WRITE, DmaMapping.PAGE_SIZE, false)
        : single(pd, MptFlags.LOCAL_WRITE);
  }

  private RingSource single(int pd, int accessBits) {
    return new RingSource.Single(bytes -> register(bytes, pd, accessBits));
  }

  private RingSource slabs(int pd, int accessBits, long alignment, boolean keepsOne) {
    return new RingSource.Shared(
        new RingSlabs<>(bytes -> registerSlab(bytes, pd, accessBits), alignment, keepsOne));
  }

  /** Registers memory in which rings may start anywhere; the registration owns it. */
  private Registrar.Registration registerSlab(long bytes, int pd, int accessBits) {
    return registered(function.allocate(bytes), pd, MptFlags.QUEUE_ONLY | accessBits);
  }

  private Registrar.Registration registered(DmaMapping mapping, int pd, int accessBits) {
    try (Undo undo = new Undo()) {
      undo.add(mapping::close);
      Registrar.Registration registration = registrar.registerQueue(mapping, pd, accessBits);
      undo.forget();
      return registration;
    }
  }

  /** Stops caching memory for later rings. */
  public void close() {
    rings.close();
  }
}
