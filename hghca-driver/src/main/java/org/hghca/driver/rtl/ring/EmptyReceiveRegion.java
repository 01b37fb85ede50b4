package org.hghca.driver.rtl.ring;

import java.util.function.IntFunction;
import org.hghca.driver.memory.Registrar;
import org.hghca.provider.NumberAllocator;
import org.hghca.provider.Undo;

/**
 * The element of a receive without memory, on a card that does not support such receives:
 * inaccessible memory. Its key has no rights, and its protection domain has no queue pair, so that
 * an RDMA WRITE with immediate consumes the receive, and a message with data fails.
 */
public final class EmptyReceiveRegion implements AutoCloseable {
  /** The length in the element. */
  public static final int BYTES = 32;

  private final int pd;
  private final Registrar.Registration registration;
  private final NumberAllocator pdNumbers;

  /**
   * Registers the memory.
   *
   * @param queues registers a page for a protection domain, without rights
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
