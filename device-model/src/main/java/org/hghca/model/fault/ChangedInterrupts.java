package org.hghca.model.fault;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Interrupts that do not come as they should. */
final class ChangedInterrupts {
  private ChangedInterrupts() {}

  /** None comes. */
  static final class None extends Injection {
    @Override
    void raise(int vector) {}
  }

  /** Those of the next vector come, modulo the number of vectors. */
  static final class Wrong extends Injection {
    @Override
    void raise(int vector) {
      super.raise((vector + 1) % site().card().identity().vectors());
    }
  }

  /** The first one comes, and none after it until a reset. */
  static final class First extends Injection {
    private final AtomicBoolean raised = new AtomicBoolean();

    @Override
    void raise(int vector) {
      if (raised.compareAndSet(false, true)) {
        super.raise(vector);
      }
    }

    @Override
    void reset() {
      raised.set(false);
    }
  }

  /** Each one comes a hundred times, 10 us apart. */
  static final class Storm extends Injection {
    private static final int TIMES = 100;
    private static final long NANOS = 10_000;

    private final AtomicInteger left = new AtomicInteger();
    private volatile int vector;
    private volatile long due;
    private volatile long now;

    @Override
    void raise(int raised) {
      vector = raised;
      left.set(TIMES - 1);
      due = now + NANOS;
      super.raise(raised);
    }

    @Override
    boolean step(long time) {
      now = time;
      if (left.get() == 0 || time < due) {
        return false;
      }
      left.decrementAndGet();
      due = time + NANOS;
      super.raise(vector);
      return true;
    }

    @Override
    long nextDeadline() {
      return left.get() == 0 ? Long.MAX_VALUE : due;
    }

    @Override
    void reset() {
      left.set(0);
    }
  }
}
