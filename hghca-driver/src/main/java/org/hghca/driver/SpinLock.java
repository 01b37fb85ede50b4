package org.hghca.driver;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The lock of one ring: held for a few nanoseconds, taken with one atomic instruction and let go
 * with a plain store. A waiter spins for a moment and then lets others run. Not reentrant.
 */
final class SpinLock {
  private static final int SPINS = 200;
  private static final VarHandle HELD;

  static {
    try {
      HELD = MethodHandles.lookup().findVarHandle(SpinLock.class, "held", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("unused") // through HELD
  private boolean held;

  void lock() {
    if (!HELD.compareAndSet(this, false, true)) {
      await();
    }
  }

  private void await() {
    int spins = 0;
    while ((boolean) HELD.getAcquire(this) || !HELD.compareAndSet(this, false, true)) {
      if (++spins < SPINS) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
    }
  }

  void unlock() {
    HELD.setRelease(this, false);
  }
}
