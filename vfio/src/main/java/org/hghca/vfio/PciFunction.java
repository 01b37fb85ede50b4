package org.hghca.vfio;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.hghca.vfio.trace.DeviceTrace;

/**
 * A PCI function that this process owns: the driver's view of its device. Thread-safe.
 *
 * <p>Closing stops the function's DMA, unmaps all remaining mappings and releases the function; it
 * is idempotent. Afterwards {@link #locator}, {@link #canReset}, {@link #memory}, {@link
 * #iommuMode}, {@link #trace}, {@link #dmaFaults} and {@link #dmaFaultCount} still answer, and
 * every other call throws {@code CLOSED}.
 */
public interface PciFunction extends AutoCloseable {

  Locator locator();

  ConfigurationSpace configuration();

  /**
   * The registers behind a base address register.
   *
   * @param bar 0 to 5
   * @throws VfioException {@code INVALID} when the function has no such region
   */
  MmioRegion region(int bar);

  /**
   * Allocates zeroed, page-aligned memory that the device may read and write. It stays valid until
   * its mapping is closed; its segment may be used by any thread.
   *
   * @param bytes at least 1; rounded up to whole pages
   * @throws VfioException {@code NO_MEMORY}, naming the limit that was hit
   */
  DmaMapping allocate(long bytes);

  /**
   * Maps existing native memory for the device, rounded outward to pages. Ranges may overlap others
   * that are mapped.
   *
   * @throws VfioException {@code INVALID} for heap memory, an empty segment, memory of a closed
   *     arena, memory confined to a thread where another thread must access it, or read-only memory
   *     with write access; {@code BAD_ADDRESS} when the kernel finds no memory there; {@code
   *     NO_MEMORY} when a limit is hit
   */
  DmaMapping map(MemorySegment memory, DmaAccess access);

  /**
   * As {@link #map}, of memory that is freed only after the mapping was closed, and is not that of
   * a file: a device in software may access it without looking each time whether it is there.
   */
  default DmaMapping mapOwned(MemorySegment memory, DmaAccess access) {
    return map(memory, access);
  }

  /**
   * Checks that memory that was created from an address is mapped. If a thread of this process
   * serves the device's accesses, an access to unmapped memory would end the process; a kernel that
   * maps the memory checks it itself, so such a function need not check before.
   *
   * @throws VfioException {@code BAD_ADDRESS} when it is not mapped, or without the required access
   *     rights
   */
  default void checkPresent(MemorySegment memory, DmaAccess access) {}

  /**
   * The source of memory that suits this function best once it is mapped. Its memory is not part of
   * the function: it lives as long as its arena.
   */
  default MemorySource memory() {
    return MemorySource.ANONYMOUS;
  }

  Interrupts interrupts();

  /**
   * The accesses of the device to memory that were refused, oldest first; the newest 64 are kept.
   * Empty if the platform does not report them, like the kernel's VFIO.
   */
  List<DmaFault> dmaFaults();

  /** Number of refused memory accesses of the device, including those that are no longer kept. */
  default long dmaFaultCount() {
    return dmaFaults().size();
  }

  /** Bytes that are mapped for the device, by whole pages. */
  default long mappedBytes() {
    return 0;
  }

  /**
   * What a device in software counts of its port and its link, by names that begin with {@code
   * port_} or {@code link_}; empty for any other device.
   */
  default Map<String, Long> portCounters() {
    return Map.of();
  }

  /** Whether the platform reports refused accesses, so that none reported means none refused. */
  default boolean reportsDmaFaults() {
    return true;
  }

  /**
   * What translates the device's accesses to memory: {@code iommufd} or {@code group} of the
   * kernel's VFIO, {@code noiommu} when nothing does, {@code software} when a process serves them.
   */
  default String iommuMode() {
    return "software";
  }

  /** Where what is seen of the device is recorded; empty if its locator does not ask for it. */
  default Optional<DeviceTrace> trace() {
    return Optional.empty();
  }

  /** Whether {@link #reset} is supported for this function. */
  boolean canReset();

  /**
   * Resets the function: registers and internal state are as after power-on, DMA in flight has
   * ended. DMA mappings stay.
   *
   * @throws VfioException {@code UNSUPPORTED} when the function has no reset
   */
  void reset();

  /**
   * The calling thread waits for the device and has nothing else to do: a device in software may do
   * some of its work there. It waits for nothing, and comes soon back.
   */
  default void idle() {}

  /**
   * The calling thread is about to sleep until something has happened, such as an event of the
   * device, and holds no lock. A device in software may do its work on the thread for some 50 us
   * before that, and let it sleep for some 2 ms for what comes to the device, where waits have been
   * short. Returns when it has happened, or it is time to sleep.
   *
   * @param happened whether it has; soon back, under no lock
   */
  default void beforeSleep(BooleanSupplier happened) {}

  /** What a thread in {@link #beforeSleep} waits for may have happened: it asks. Never waits. */
  default void happened() {}

  /**
   * The calling thread polls from now on, for a moment at least: a device in software may leave
   * work to it at once.
   */
  default void beginPolling() {}

  /**
   * The calling thread has polled for a while and is about to sleep, without {@link #beforeSleep}:
   * a device in software that has left work to it takes that back now.
   */
  default void endPolling() {}

  /**
   * How many polls in a row that found nothing pass between two calls of {@link #idle}, a power of
   * 2: many where a call may enter the kernel. The answer does not change.
   */
  default int idleEvery() {
    return EmulatedFunction.IDLE_EVERY;
  }

  @Override
  void close();
}
