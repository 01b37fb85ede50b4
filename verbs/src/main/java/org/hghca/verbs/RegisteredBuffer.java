package org.hghca.verbs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * One buffer of a {@link RegisteredBufferPool}: a part of its memory region. The thread that
 * acquires it owns it until it is closed, and may pass it to other threads like any memory. It
 * contains the bytes of the last owner.
 */
public final class RegisteredBuffer extends MemorySlice implements AutoCloseable {
  private static final VarHandle LENT;

  static {
    try {
      LENT = MethodHandles.lookup().findVarHandle(RegisteredBuffer.class, "lent", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final RegisteredBufferPool pool;
  private final int index;

  @SuppressWarnings("unused") // LENT is it.
  private boolean lent;

  RegisteredBuffer(
      RegisteredBufferPool pool, MemoryRegion region, int index, long offset, long length) {
    super(region, offset, length);
    this.pool = pool;
    this.index = index;
  }

  /**
   * The index of the buffer in its pool, from 0: {@link RegisteredBufferPool#buffer} finds it
   * again.
   */
  public int index() {
    return index;
  }

  /**
   * Returns the buffer. Neither the device nor a peer may use it any more: its requests have
   * completed. A buffer must be returned only once: a second call could take it from a thread that
   * acquired it meanwhile.
   *
   * @throws IllegalStateException when it is not in use
   */
  @Override
  public void close() {
    if (!LENT.compareAndSet(this, true, false)) {
      throw new IllegalStateException("buffer %d was given back already".formatted(index));
    }
    pool.giveBack(index);
  }

  void lend() {
    LENT.setRelease(this, true);
  }

  @Override
  public String toString() {
    return "buffer %d of %d, %s: %s"
        .formatted(
            index,
            pool.size(),
            (boolean) LENT.getAcquire(this) ? "lent" : "in the pool",
            super.toString());
  }
}
