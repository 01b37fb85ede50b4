package org.hghca.provider;

import java.lang.foreign.MemorySegment;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.BufferPool;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.PciFunction;

/**
 * Whose memory a region is of, and how a device gets to it: the application's, which has to be
 * there, or a buffer of the driver's, which the device may reach longer than the program does.
 */
public final class RegionMemory {
  private final PciFunction function;

  /** Null when the memory is the application's. */
  private final BufferPool.Buffer buffer;

  private RegionMemory(PciFunction function, BufferPool.Buffer buffer) {
    this.function = function;
    this.buffer = buffer;
  }

  public static RegionMemory ofApplication(PciFunction function) {
    return new RegionMemory(function, null);
  }

  /** A buffer of the driver's, which belongs to this from now on. */
  public static RegionMemory of(PciFunction function, BufferPool.Buffer buffer) {
    return new RegionMemory(function, buffer);
  }

  /** Maps memory for the device: the application's, or a part of the buffer. */
  public DmaMapping map(MemorySegment memory, DmaAccess access) {
    if (isOwn(memory)) {
      return function.map(deviceView(memory), access);
    }
    function.checkPresent(memory, access);
    return function.map(memory, access);
  }

  /** Whether memory is of the buffer. */
  public boolean isOwn(MemorySegment memory) {
    return buffer != null && memory.scope().equals(buffer.segment().scope());
  }

  private MemorySegment deviceView(MemorySegment memory) {
    long offset = memory.address() - buffer.segment().address();
    MemorySegment part = buffer.deviceMemory().asSlice(offset, memory.byteSize());
    return memory.isReadOnly() ? part.asReadOnly() : part;
  }

  /**
   * Ends the program's access to the buffer, if there is one.
   *
   * @param what the region in messages
   * @throws VerbsException EBUSY while native code uses it
   */
  public void end(String what) {
    if (buffer != null) {
      try {
        buffer.end();
      } catch (IllegalStateException e) {
        throw new VerbsException(
            Errno.EBUSY, "the memory of %s is in use by native code".formatted(what), e);
      }
    }
  }

  /** Frees the buffer, if there is one: the device does not reach it any more. */
  public void free() {
    if (buffer != null) {
      buffer.close();
    }
  }

  /**
   * Whether two segments need one mapping. Equal ones may still be of arenas that end at different
   * times, or one of them read-only.
   */
  public static boolean isSame(MemorySegment one, MemorySegment other) {
    return one.equals(other)
        && one.scope().equals(other.scope())
        && one.isReadOnly() == other.isReadOnly();
  }
}
