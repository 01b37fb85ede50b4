package org.hghca.vfio;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A PCI function that this process owns: what a driver sees of its device. Thread-safe.
 *
 * <p>Closing stops the function's DMA, takes back every mapping that is left and gives the function
 * back; it is idempotent. Afterwards {@link #locator}, {@link #canReset}, {@link #memory}, {@link
 * #dmaFaults} and {@link #dmaFaultCount} still answer, and every other call throws {@code CLOSED}.
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
   *     arena, memory confined to a thread where another must touch it, or read-only memory to be
   *     written; {@code BAD_ADDRESS} when a kernel finds none there; {@code NO_MEMORY} when a limit
   *     is hit
   */
  DmaMapping map(MemorySegment memory, DmaAccess access);

  /**
   * Checks that memory which somebody made of an address is there. Where a thread of this process
   * serves the device's accesses, touching memory that is not would end the process; a kernel that
   * maps it finds out by itself, and such a function need not look before.
   *
   * @throws VfioException {@code BAD_ADDRESS} when it is not there, or not as the access needs it
   */
  default void checkPresent(MemorySegment memory, DmaAccess access) {}

  /**
   * Where memory comes from that this function reaches best once it is mapped. What it gives is no
   * part of the function: it lives as long as its arena.
   */
  default MemorySource memory() {
    return MemorySource.ANONYMOUS;
  }

  Interrupts interrupts();

  /**
   * The accesses of the device to memory that were refused, oldest first; the newest 64 are kept.
   * Empty where the platform tells nobody, as the kernel's VFIO does.
   */
  List<DmaFault> dmaFaults();

  /** How many accesses of the device to memory were refused; at least as many as are kept. */
  default long dmaFaultCount() {
    return dmaFaults().size();
  }

  /** Whether {@link #reset} exists for this function. */
  boolean canReset();

  /**
   * Resets the function: registers and internal state are as after power-on, DMA in flight has
   * ended. DMA mappings stay.
   *
   * @throws VfioException {@code UNSUPPORTED} when the function has no reset
   */
  void reset();

  @Override
  void close();
}
