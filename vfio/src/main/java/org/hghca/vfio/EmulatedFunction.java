package org.hghca.vfio;

import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * A PCI function in software, seen from its bus: the device half of the seam whose host half is
 * {@link PciFunction}. Its transports (a connector in this process, a server on a socket) call it
 * from any thread; it reaches the host only through the {@link DeviceBus} it was attached to.
 */
public interface EmulatedFunction extends AutoCloseable {

  /**
   * Plugs the function in; called once, before any access. Only {@link #interruptVectors} may be
   * asked earlier.
   */
  void attach(DeviceBus bus);

  /** The size of the region behind a base address register in bytes, 0 where there is none. */
  long regionSize(int bar);

  /**
   * A register read of the host. Never blocks for long.
   *
   * @param width 1, 2, 4 or 8 bytes
   * @return the value zero-extended; all ones where nothing responds
   */
  long read(int bar, long offset, int width);

  /**
   * A register write of the host. Queues the work that it starts, or does a small part of it; never
   * waits.
   *
   * @param width 1, 2, 4 or 8 bytes
   */
  void write(int bar, long offset, int width, long value);

  /**
   * A read of configuration space.
   *
   * @param offset 0 to 4095
   * @param width 1, 2 or 4 bytes, naturally aligned
   */
  int readConfiguration(int offset, int width);

  void writeConfiguration(int offset, int width, int value);

  /** Number of interrupt vectors of the function. */
  int interruptVectors();

  /**
   * Whether every DMA access happens on the thread that made the register access which caused it,
   * so that memory confined to that thread is accessible.
   */
  boolean isInline();

  /** Whether the function has a function-level reset. */
  boolean canReset();

  /** Function-level reset; returns after DMA in flight has ended. */
  void reset();

  /** Unplugs the function: it does not access the bus after this returns. Idempotent. */
  @Override
  void close();

  /** The usual number of polls between two calls of {@link #idle}. */
  int IDLE_EVERY = 64;

  /** As {@code PciFunction.portCounters}. */
  default Map<String, Long> portCounters() {
    return Map.of();
  }

  /** As {@code PciFunction.idle}: a thread of the host has nothing else to do. */
  default void idle() {}

  /** As {@code PciFunction.beforeSleep}. */
  default void beforeSleep(BooleanSupplier happened) {}

  /** As {@code PciFunction.happened}. */
  default void happened() {}

  /** As {@code PciFunction.beginPolling}. */
  default void beginPolling() {}

  /** As {@code PciFunction.endPolling}. */
  default void endPolling() {}

  /** As {@code PciFunction.idleEvery}. */
  default int idleEvery() {
    return IDLE_EVERY;
  }
}
