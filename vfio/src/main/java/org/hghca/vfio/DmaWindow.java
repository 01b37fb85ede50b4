package org.hghca.vfio;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.hghca.linux.LostPages;
import org.hghca.linux.OrderedCopy;

/**
 * A range of I/O addresses that one piece of memory serves.
 *
 * @param iova of the memory's first byte
 * @param memory what the device reads and writes there
 * @param access what the device may do
 * @param stays whether the memory is freed only after it was unmapped, unlike that of an arena,
 *     which a program may close: it is there until the end of the run of {@link DeviceBus#beginRun}
 *     in which the window was found, unless the run's own thread unmaps it
 */
public record DmaWindow(long iova, MemorySegment memory, DmaAccess access, boolean stays) {
  private static final ValueLayout.OfShort LITTLE_SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** A range of memory that may be freed at any time. */
  public DmaWindow(long iova, MemorySegment memory, DmaAccess access) {
    this(iova, memory, access, false);
  }

  /** Whether all bytes from an address on are in the range. */
  public boolean holds(long address, long length) {
    long offset = address - iova;
    return offset >= 0 && offset <= memory.byteSize() - length;
  }

  /**
   * Copies bytes of the range, which must hold them.
   *
   * @throws IllegalStateException if the memory's arena is closed
   * @throws WrongThreadException if the memory is confined to another thread
   * @throws InternalError if the memory's file was truncated
   */
  public void read(long address, MemorySegment destination, long offset, long length) {
    long from = address - iova;
    if (length == Long.BYTES) { // as a whole, which a copy of any length does not do as fast
      long value = memory.get(ValueLayout.JAVA_LONG_UNALIGNED, from);
      destination.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, value);
    } else {
      MemorySegment.copy(memory, from, destination, offset, length);
    }
    LostPages.throwFault();
  }

  /**
   * Loads a number of two bytes in little-endian order, which the range must hold.
   *
   * @return 0 to 65535
   * @throws IllegalStateException as of {@link #read}, and the others
   */
  public int readShort(long address) {
    int number = memory.get(LITTLE_SHORT, address - iova) & 0xffff;
    LostPages.throwFault();
    return number;
  }

  /**
   * Stores at least one byte in the range, which must hold them all and be writable. A reader that
   * sees the last byte sees all others, and a number of 2, 4 or 8 bytes at its natural alignment is
   * stored at once, if it ends the bytes; exceptions as of {@link #read}.
   */
  public void write(long address, MemorySegment source, long offset, long length) {
    long at = address - iova;
    if (length == Long.BYTES && isAligned(at)) {
      OrderedCopy.storeLast(source, offset, memory, at, Long.BYTES);
    } else {
      OrderedCopy.copy(source, offset, memory, at, length);
    }
    LostPages.throwFault();
  }

  private boolean isAligned(long at) {
    return memory.isNative() && (memory.address() + at & Long.BYTES - 1) == 0;
  }
}
