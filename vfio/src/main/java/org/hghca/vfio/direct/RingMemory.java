package org.hghca.vfio.direct;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.linux.HostCalls;

/**
 * The memory of a ring, as posting and polling access it. This class alone turns memory into
 * addresses.
 *
 * <p>An access through the ring's own segment checks class, bounds and liveness each time: nearly
 * half of the instructions of a post. {@link #segment} of <em>guarded</em> memory is one constant
 * segment of all addresses instead, whose checks the compiler removes, and {@link #at} makes an
 * address of an offset. Their callers guarantee what is no longer checked:
 *
 * <ul>
 *   <li>Bounds. An offset is a masked index times a stride, and what is written there is no longer
 *       than the stride. {@link #checkHolds} checks the product once, when the ring is created.
 *   <li>Life. An access is made under the lock of the ring, after a check under the same lock that
 *       the ring is open. The owner closes the ring under that lock before it frees the memory. So
 *       no access begins after the close, and the memory is freed and unmapped at the close like
 *       any other.
 * </ul>
 *
 * <p>A ring without a lock, or a glance without the lock, uses <em>checked</em> memory, where an
 * access to freed memory throws.
 *
 * <p>A device in this process accesses the rings in a run of its bus instead: what was found in the
 * run and {@linkplain org.hghca.vfio.DmaWindow#stays stays} is there until the run ends, since its
 * unmapping waits for that.
 */
public final class RingMemory {
  /**
   * All bits that an address of a process has. The compiler then knows that what is near a position
   * lies in {@link Addresses#ALL}, and checks no bounds.
   */
  private static final long ADDRESS_BITS = (1L << 56) - 1;

  private final MemorySegment memory;

  /** The address of the first byte of guarded memory; 0 of checked memory. */
  private final long base;

  private RingMemory(MemorySegment memory, long base) {
    this.memory = memory;
    this.base = base;
  }

  /** Initialised by the first access, so that {@link #checkAllowed} can come before. */
  private static final class Addresses {
    static final MemorySegment ALL = all();

    @SuppressWarnings("restricted")
    private static MemorySegment all() {
      return MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    }
  }

  /**
   * Checks that this JVM allows guarded memory, for those that use it without having allocated any.
   *
   * @throws VfioException {@code NO_PERMISSION}, naming the option that the JVM lacks
   */
  public static void checkAllowed() {
    HostCalls.checkNativeAccess();
  }

  /** Memory whose every access is checked. */
  public static RingMemory checked(MemorySegment memory) {
    return new RingMemory(memory, 0);
  }

  /**
   * Memory that is accessed only under a lock, or in a run, as this class requires.
   *
   * @param memory native memory that any thread may access
   */
  public static RingMemory guarded(MemorySegment memory) {
    if (!memory.isNative() || memory.isReadOnly()) {
      throw new IllegalArgumentException("a ring needs native memory to write to: " + memory);
    }
    return new RingMemory(memory, memory.address());
  }

  /** Whether callers guarantee what is not checked. */
  public boolean isGuarded() {
    return base != 0;
  }

  /**
   * Checks that a ring lies in the memory.
   *
   * @param bytes of all its slots
   * @throws IndexOutOfBoundsException when it does not
   */
  public void checkHolds(long bytes) {
    Objects.checkFromIndexSize(0, bytes, memory.byteSize());
  }

  /** The memory itself, for accesses off the data path, with offsets from 0; always checked. */
  public MemorySegment memory() {
    return memory;
  }

  /**
   * The segment that is accessed at the positions of {@link #at}. Get it in the method that
   * accesses it: to a method that is compiled by itself a parameter is no constant, and its checks
   * stay.
   */
  public MemorySegment segment() {
    return base == 0 ? memory : Addresses.ALL;
  }

  /** As {@link #segment} of guarded memory, for a ring that has no other. */
  public static MemorySegment guardedSegment() {
    return Addresses.ALL;
  }

  /**
   * The position in {@link #segment} of an offset.
   *
   * @param offset in bytes, inside the ring
   */
  public long at(long offset) {
    return at(base, offset);
  }

  /**
   * As {@link #at(long)}, for a ring that keeps its base.
   *
   * @param base the position of offset 0
   */
  public static long at(long base, long offset) {
    return base + offset & ADDRESS_BITS;
  }
}
