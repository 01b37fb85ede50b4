package org.hghca.vfio;

import java.lang.foreign.MemorySegment;

/**
 * Memory that a device can access. Thread-safe.
 *
 * <p>Closing unmaps the memory from the device: it returns only after every access in flight has
 * ended; afterwards the I/O addresses may be reused. Closing twice does nothing.
 */
public interface DmaMapping extends AutoCloseable {

  /** The page size of the I/O address space, in bytes. */
  int PAGE_SIZE = 4096;

  /** The mapped memory, exactly as it was given or allocated. */
  MemorySegment segment();

  /**
   * The I/O virtual address of a byte of the memory. Only the addresses within one page are certain
   * to be contiguous: call this for each page.
   *
   * @param offset from the start of {@link #segment()}, in bytes
   * @throws IndexOutOfBoundsException when the offset lies outside
   */
  long iova(long offset);

  DmaAccess access();

  @Override
  void close();
}
