package org.hghca.vfio.inprocess;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.hghca.vfio.Interrupts;

/** Interrupt vectors of a function in this process: a set of fired vectors and one waiter. */
final class InProcessInterrupts implements Interrupts {
  private final int vectors;
  private final AtomicLong fired = new AtomicLong();
  private final AtomicLongArray counts = new AtomicLongArray(64);
  private volatile boolean woken;
  private volatile Thread waiter;
  private volatile BooleanSupplier handler = () -> false;

  InProcessInterrupts(int vectors) {
    this.vectors = Math.min(64, vectors);
  }

  @Override
  public int vectors() {
    return vectors;
  }

  void raise(int vector) {
    if (mark(vector)) {
      LockSupport.unpark(waiter);
    }
  }

  /** The calling thread may handle it. */
  void raiseHere(int vector) {
    if (mark(vector) && !handler.getAsBoolean()) {
      LockSupport.unpark(waiter);
    }
  }

  private boolean mark(int vector) {
    if (vector < 0 || vector >= vectors) {
      return false;
    }
    counts.incrementAndGet(vector);
    fired.getAndUpdate(bits -> bits | 1L << vector);
    return true;
  }

  @Override
  public void handleBy(BooleanSupplier handler) {
    this.handler = handler;
  }

  @Override
  public long await(long timeoutNanos) {
    long deadline = System.nanoTime() + timeoutNanos;
    waiter = Thread.currentThread();
    try {
      while (true) {
        long bits = fired.getAndSet(0);
        if (bits != 0) {
          return bits;
        }
        long left = deadline - System.nanoTime();
        if (woken || left <= 0 || Thread.currentThread().isInterrupted()) {
          woken = false;
          return 0;
        }
        LockSupport.parkNanos(this, left);
      }
    } finally {
      waiter = null;
    }
  }

  @Override
  public long count(int vector) {
    return counts.get(vector);
  }

  @Override
  public void wake() {
    woken = true;
    LockSupport.unpark(waiter);
  }
}
