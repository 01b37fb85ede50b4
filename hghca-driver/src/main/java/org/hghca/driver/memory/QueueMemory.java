package org.hghca.driver.memory;

import org.hghca.abi.MptFlags;
import org.hghca.provider.RingSlabs;
import org.hghca.provider.Undo;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.PciFunction;

/** Memory of queues, which the driver allocates and registers with the card. Thread-safe. */
public final class QueueMemory {
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

  /** Registers memory in which rings may start anywhere; the registration owns it. */
  Registrar.Registration registerSlab(long bytes, int pd, int accessBits) {
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
