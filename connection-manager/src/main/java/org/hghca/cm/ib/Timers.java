package org.hghca.cm.ib;

import java.util.Comparator;
import java.util.Optional;
import java.util.TreeSet;

/** What is due at a time. A cancelled timer leaves nothing behind. Used under the agent's lock. */
final class Timers {
  private final TreeSet<Timer> pending =
      new TreeSet<>(
          Comparator.<Timer>comparingLong(timer -> timer.at)
              .thenComparingLong(timer -> timer.number));
  private long numbers;

  /** Something that is due once. */
  static final class Timer {
    private final long at;
    private final long number;
    private final Runnable task;

    private Timer(long at, long number, Runnable task) {
      this.at = at;
      this.number = number;
      this.task = task;
    }
  }

  /**
   * Sets a timer.
   *
   * @param at nanoseconds, from the origin of all times that this object is told
   */
  Timer set(long at, Runnable task) {
    Timer timer = new Timer(at, numbers++, task);
    pending.add(timer);
    return timer;
  }

  /** Takes a timer back; does nothing when it was due already. */
  void cancel(Timer timer) {
    pending.remove(timer);
  }

  /** Runs what is due, in order. */
  void advance(long now) {
    while (!pending.isEmpty() && pending.first().at <= now) {
      pending.pollFirst().task.run();
    }
  }

  /** When the next one is due; empty when there is none. */
  Optional<Long> next() {
    return pending.isEmpty() ? Optional.empty() : Optional.of(pending.first().at);
  }

  int size() {
    return pending.size();
  }
}
