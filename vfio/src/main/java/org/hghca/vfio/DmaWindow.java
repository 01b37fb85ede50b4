package org.hghca.vfio;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.hghca.linux.LostPages;

/**
 * A range of I/O addresses that one piece of memory serves.
 *
 * @param iova of the memory's first byte
 * @param memory what the device reads and writes there
 * @param access what the device may do
 */
public record DmaWindow(long iova, MemorySegment memory, DmaAccess access) {
  private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

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
    MemorySegment.copy(memory, address - iova, destination, offset, length);
    LostPages.throwFault();
  }

  /**
   * Stores at least one byte in the range, which must hold them all and be writable. A reader that
   * sees the last byte sees all others; exceptions as of {@link #read}.
   */
  public void write(long address, MemorySegment source, long offset, long length) {
    long at = address - iova;
    // A thread that polls the last byte (an owner byte, a flag after a payload) must find the rest.
    if (length >= Long.BYTES && isAligned(at + length)) {
      long last = length - Long.BYTES;
      MemorySegment.copy(source, offset, memory, at, last);
      LONG.setRelease(
          memory, at + last, source.get(ValueLayout.JAVA_LONG_UNALIGNED, offset + last));
    } else {
      long last = length - 1;
      MemorySegment.copy(source, offset, memory, at, last);
      BYTE.setRelease(memory, at + last, source.get(ValueLayout.JAVA_BYTE, offset + last));
    }
    LostPages.throwFault();
  }

  /** Whether eight bytes that end at an offset can be stored at once. */
  private boolean isAligned(long end) {
    return memory.isNative() && (memory.address() + end) % Long.BYTES == 0;
  }
}
