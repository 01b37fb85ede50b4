package org.hghca.provider;

import java.lang.foreign.MemorySegment;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.memory.BufferPool;

/**
 * The memory of a region and its mapping for a device: memory of the application, which must be
 * mapped, or a buffer of the driver, which the device may access longer than the program.
 */
public final class RegionMemory {
  private final PciFunction function;

  /** Null if the memory belongs to the application. */
  private final BufferPool.Buffer buffer;

  private RegionMemory(PciFunction function, BufferPool.Buffer buffer) {
    this.function = function;
    this.buffer = buffer;
  }

  public static RegionMemory ofApplication(PciFunction function) {
    return new RegionMemory(function, null);
  }

  /** A buffer of the driver, which this object owns from now on. */
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

  /** Whether memory is part of the buffer. */
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

  /** Frees the buffer, if there is one: the device no longer accesses it. */
  public void free() {
    if (buffer != null) {
      buffer.close();
    }
  }

  /**
   * Whether two segments need only one mapping. Equal segments may still belong to arenas with
   * different lifetimes, or one may be read-only.
   */
  public static boolean isSame(MemorySegment one, MemorySegment other) {
    return one.equals(other)
        && one.scope().equals(other.scope())
        && one.isReadOnly() == other.isReadOnly();
  }
}
