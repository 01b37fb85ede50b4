package org.hghca.provider.object;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.hghca.verbs.AccessFlag;
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

  /**
   * Checks that a region may have some rights.
   *
   * @param unsupported what the device lacks
   * @throws VerbsException EINVAL for remote writes without local ones, on any device; EOPNOTSUPP
   *     for a right that is not supported
   */
  public static void check(Set<AccessFlag> access, Set<AccessFlag> unsupported) {
    for (AccessFlag flag : access) {
      boolean writes = flag == AccessFlag.REMOTE_WRITE || flag == AccessFlag.REMOTE_ATOMIC;
      if (writes && !access.contains(AccessFlag.LOCAL_WRITE)) {
        throw new VerbsException(Errno.EINVAL, "%s needs LOCAL_WRITE too".formatted(flag));
      }
    }
    for (AccessFlag flag : access) {
      if (unsupported.contains(flag)) {
        throw new VerbsException(
            Errno.EOPNOTSUPP, "memory regions with %s are not supported".formatted(flag));
      }
    }
  }

  /**
   * Checks memory, as far as its mapping does not.
   *
   * @throws VerbsException EINVAL for memory of a closed arena, or ZERO_BASED memory that does not
   *     start at a page
   */
  public static void check(MemorySegment memory, Set<AccessFlag> access) {
    if (!memory.scope().isAlive()) {
      throw new VerbsException(Errno.EINVAL, "memory of a closed arena cannot be registered");
    }
    if (access.contains(AccessFlag.ZERO_BASED)
        && (memory.address() & DmaMapping.PAGE_SIZE - 1) != 0) {
      throw new VerbsException(
          Errno.EINVAL,
          ("memory of a ZERO_BASED region must start at a page of %d bytes, 0x%x does not:"
                  + " allocate it with that alignment, or from the protection domain")
              .formatted(DmaMapping.PAGE_SIZE, memory.address()));
    }
  }

  /** Maps memory for the device: the application's, or a part of the buffer. */
  public DmaMapping map(MemorySegment memory, DmaAccess access) {
    if (isOwn(memory)) {
      return function.mapOwned(deviceView(memory), access);
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
