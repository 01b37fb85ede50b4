package org.hghca.driver.memory;

import java.util.function.IntFunction;
import org.hghca.provider.NumberAllocator;
import org.hghca.provider.Undo;

/**
 * What stands in a receive without memory on a card that takes none: memory that nobody may reach.
 * Its key has no right, and its protection domain no queue pair, so that an RDMA WRITE with
 * immediate takes the receive, and a message that has data fails.
 */
public final class EmptyReceiveRegion implements AutoCloseable {
  /** How long the element says that it is. */
  public static final int BYTES = 32;

  private final int pd;
  private final Registrar.Registration registration;
  private final NumberAllocator pdNumbers;

  /**
   * Makes the memory known.
   *
   * @param queues registers a page for a protection domain, without a right
   */
  public EmptyReceiveRegion(NumberAllocator pdNumbers, IntFunction<Registrar.Registration> queues) {
    this.pdNumbers = pdNumbers;
    try (Undo undo = new Undo()) {
      pd = pdNumbers.allocate();
      undo.add(() -> pdNumbers.free(pd));
      registration = queues.apply(pd);
      undo.forget();
    }
  }

  public int key() {
    return registration.key();
  }

  @Override
  public void close() {
    registration.close();
    pdNumbers.free(pd);
  }
}
