package org.hghca.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * One buffer of a {@link RegisteredBufferPool}: a part of its memory region. Whoever acquired it
 * owns it until its release, and hands it to other threads as any memory.
 */
public final class RegisteredBuffer {
  private static final VarHandle LENT;

  static {
    try {
      LENT = MethodHandles.lookup().findVarHandle(RegisteredBuffer.class, "lent", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final RegisteredBufferPool pool;
  private final MemoryRegion region;
  private final int index;
  private final long offset;
  private final MemorySegment segment;

  @SuppressWarnings("unused") // LENT is it.
  private boolean lent;

  RegisteredBuffer(
      RegisteredBufferPool pool, MemoryRegion region, int index, long offset, long length) {
    this.pool = pool;
    this.region = region;
    this.index = index;
    this.offset = offset;
    this.segment = region.segment().asSlice(offset, length);
  }

  /** Which buffer of its pool it is, from 0: {@link RegisteredBufferPool#buffer} finds it again. */
  public int index() {
    return index;
  }

  /** Its bytes; they hold what its last owner left in them. */
  public MemorySegment segment() {
    return segment;
  }

  /** The region of the whole pool. */
  public MemoryRegion region() {
    return region;
  }

  /** Where it begins in the region, in bytes. */
  public long offset() {
    return offset;
  }

  /** In bytes. */
  public long length() {
    return segment.byteSize();
  }

  /** The address of its first byte, for peers. */
  public long address() {
    return region.address() + offset;
  }

  /**
   * Gives the buffer back. Neither the device nor a peer may use it any more: its requests have
   * completed.
   *
   * @throws IllegalStateException when nobody has it
   */
  public void release() {
    if (!LENT.compareAndSet(this, true, false)) {
      throw new IllegalStateException("buffer %d was released already".formatted(index));
    }
    pool.giveBack(index);
  }

  void lend() {
    LENT.setRelease(this, true);
  }
}
