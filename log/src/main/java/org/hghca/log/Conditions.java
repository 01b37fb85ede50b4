package org.hghca.log;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/** The conditions that were logged, and how often they have occurred since. Thread-safe. */
final class Conditions {
  static final Conditions SHARED =
      new Conditions(
          System::nanoTime,
          (task, nanos) ->
              CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS).execute(task));

  /** For how long repetitions of a condition are only counted. */
  static final long INTERVAL = TimeUnit.MINUTES.toNanos(1);

  /** The most that are remembered: the oldest is forgotten, and counts as new. */
  static final int MOST = 256;

  private final LongSupplier clock;

  /** Runs a task after a number of nanoseconds. */
  private final BiConsumer<Runnable, Long> later;

  private final Map<Key, Condition> known = new LinkedHashMap<>();

  Conditions(LongSupplier clock, BiConsumer<Runnable, Long> later) {
    this.clock = clock;
    this.later = later;
  }

  private record Key(String logger, Level level, String format, String device) {}

  /** A condition since it was logged last; guarded by the lock of all. */
  private static final class Condition {
    private long until;
    private long repetitions;
    private Runnable line = () -> {};
  }

  void log(Logger log, Level level, About about, String format, Object... arguments) {
    if (!log.isEnabledForLevel(level)) {
      return;
    }
    if (isNew(log, level, about, format, arguments)) {
      about.on(log.atLevel(level)).log(format, arguments);
    } else {
      about.on(log.atDebug()).log(format, arguments);
    }
  }

  private synchronized boolean isNew(
      Logger log, Level level, About about, String format, Object... arguments) {
    Key key = new Key(log.getName(), level, format, about.device());
    Condition condition = known.get(key);
    long now = clock.getAsLong();
    if (condition == null || now - condition.until >= 0 && condition.repetitions == 0) {
      condition = new Condition();
      condition.until = now + INTERVAL;
      known.remove(key);
      known.put(key, condition);
      forgetOldest();
      return true;
    }
    condition.repetitions++;
    Condition repeated = condition;
    condition.line =
        () ->
            about
                .on(log.atLevel(level))
                .log(format + " (" + repeated.repetitions + " more of these)", arguments);
    if (condition.repetitions == 1) {
      later.accept(() -> report(repeated), Math.max(0, condition.until - now));
    }
    return false;
  }

  private void forgetOldest() {
    if (known.size() > MOST) {
      known.remove(known.keySet().iterator().next());
    }
  }

  /** Logs the number of repetitions, and counts those of another interval. */
  private synchronized void report(Condition condition) {
    if (condition.repetitions > 0) {
      condition.line.run();
      condition.repetitions = 0;
      condition.until = clock.getAsLong() + INTERVAL;
    }
  }

  synchronized void reportAll() {
    List<Condition> all = new ArrayList<>(known.values());
    all.forEach(this::report);
    known.clear();
  }
}
