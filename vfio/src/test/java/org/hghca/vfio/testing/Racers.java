package org.hghca.vfio.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Threads that each repeat one step, at the same time. A test of their interaction cannot pass
 * because one thread ended before another began.
 */
public final class Racers {
  /** The step of a thread; called with 0, 1, 2 ... */
  public interface Step {
    void run(int round) throws Exception;
  }

  private final int steps;
  private final CyclicBarrier start;
  private final AtomicInteger begun = new AtomicInteger();
  private final AtomicInteger through = new AtomicInteger();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private volatile boolean over;

  private Racers(int threads, int steps) {
    this.steps = steps;
    this.start = new CyclicBarrier(threads);
  }

  /**
   * Lets one thread per step repeat it, until each has run it so many times after all have run it
   * once. Ends at the first step that fails, and when it is interrupted.
   *
   * @param steps at least 1
   * @return how often each has run its step
   * @throws AssertionError caused by the exception of a step
   */
  public static int[] race(int steps, List<Step> racing) throws InterruptedException {
    Racers racers = new Racers(racing.size(), steps);
    int[] done = new int[racing.size()];
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < done.length; i++) {
      int own = i;
      threads.add(
          Thread.ofPlatform()
              .daemon()
              .name("racer-" + i)
              .start(() -> done[own] = racers.run(racing.get(own))));
    }
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } finally {
      racers.over = true;
    }
    if (racers.failure.get() != null) {
      throw new AssertionError(racers.failure.get());
    }
    return done;
  }

  private int run(Step step) {
    int done = 0;
    try {
      start.await();
      for (int together = 0; !over; done++) {
        boolean all = begun.get() == start.getParties();
        step.run(done);
        if (done == 0) {
          begun.incrementAndGet();
        }
        together += all ? 1 : 0;
        if (all && together == steps && through.incrementAndGet() == start.getParties()) {
          over = true;
        }
      }
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
      over = true;
    }
    return done;
  }
}
