package org.hghca.provider;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The lock of one ring: held for a few nanoseconds, taken with one atomic instruction and let go
 * with a plain store. A waiter spins for a moment and then lets others run. Not reentrant.
 */
public final class SpinLock {
  private static final int SPINS = 200;
  private static final int FREE = 0;
  private static final int TAKEN = 1;
  private static final VarHandle HELD;

  static {
    try {
      HELD = MethodHandles.lookup().findVarHandle(SpinLock.class, "held", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("unused") // through HELD
  private int held;

  public void lock() {
    if (!HELD.compareAndSet(this, FREE, TAKEN)) {
      await();
    }
  }

  private void await() {
    int spins = 0;
    while ((int) HELD.getAcquire(this) == TAKEN || !HELD.compareAndSet(this, FREE, TAKEN)) {
      if (++spins < SPINS) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
    }
  }

  public void unlock() {
    HELD.setRelease(this, FREE);
  }
}
