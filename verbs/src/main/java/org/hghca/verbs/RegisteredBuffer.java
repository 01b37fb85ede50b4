package org.hghca.verbs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * One buffer of a {@link RegisteredBufferPool}: a part of its memory region. The thread that
 * acquires it owns it until it is closed, and hands it to other threads as any memory. Its bytes
 * are what the last owner left in them.
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

  /** Which buffer of its pool it is, from 0: {@link RegisteredBufferPool#buffer} finds it again. */
  public int index() {
    return index;
  }

  /**
   * Gives the buffer back. Neither the device nor a peer may use it any more: its requests have
   * completed. A buffer is given back once: were a second time ignored, it could take the buffer
   * from the thread that acquired it meanwhile.
   *
   * @throws IllegalStateException when nobody has it
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
