package org.hghca.tools.perf;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Whether the compilers of JVMs rest, so that code is measured and not its compilation: a young JVM
 * compiles for seconds, and on few cores takes one of them from what is measured. Not thread-safe.
 */
public final class CompilerRest {
  /** How much of an interval a compiler that rests may work. */
  private static final double SHARE = 0.05;

  /** Intervals of rest one after another: a long compilation counts only when it ends. */
  private static final int CALM = 3;

  private static final Duration INTERVAL = Duration.ofMillis(300);

  private final long end;
  private long before;
  private long[] worked = {};
  private int calm;
  private boolean rested = true;

  /**
   * Nothing has run yet.
   *
   * @param now the time, in nanoseconds
   * @param limit the longest time that warming up may take from now
   */
  public CompilerRest(long now, Duration limit) {
    end = now + limit.toNanos();
  }

  /** How long the compilers of this JVM have worked so far, in milliseconds. */
  public static long worked() {
    CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
    return compiler == null ? 0 : compiler.getTotalCompilationTime(); // null: none is there
  }

  /**
   * Looks once more, after a part of the work.
   *
   * @param now the time, in nanoseconds
   * @param millis how long the compilers of each JVM have worked so far
   * @return whether all of them rest, or the limit is over
   */
  public boolean isOver(long now, long... millis) {
    if (worked.length == 0) {
      before = now;
      worked = millis.clone();
    } else if (now - before >= INTERVAL.toNanos()) {
      calm = isCalm(now - before, millis) ? calm + 1 : 0;
      before = now;
      worked = millis.clone();
    }
    if (calm >= CALM) {
      return true;
    }
    if (now - end >= 0) {
      rested = false;
      return true;
    }
    return false;
  }

  private boolean isCalm(long nanos, long... millis) {
    for (int i = 0; i < millis.length; i++) {
      if (TimeUnit.MILLISECONDS.toNanos(millis[i] - worked[i]) > SHARE * nanos) {
        return false;
      }
    }
    return true;
  }

  /** Whether the compilers rested before the limit was over. */
  public boolean rested() {
    return rested;
  }
}
