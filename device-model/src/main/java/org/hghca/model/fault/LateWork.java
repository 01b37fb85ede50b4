package org.hghca.model.fault;

import java.util.ArrayDeque;

/** Work that is done some time after it was given, in order. Thread-safe. */
final class LateWork {
  private static final long UNDATED = Long.MAX_VALUE;

  private final ArrayDeque<Late> waiting = new ArrayDeque<>();

  /** Something to do; the time is set in the first step that sees it. */
  private static final class Late {
    final Runnable work;
    long due = UNDATED;

    Late(Runnable work) {
      this.work = work;
    }
  }

  synchronized void add(Runnable work) {
    waiting.add(new Late(work));
  }

  /** Whether something waits that no step has seen. */
  synchronized boolean hasNew() {
    return !waiting.isEmpty() && waiting.getLast().due == UNDATED;
  }

  /**
   * Does what is due; returns whether there was anything.
   *
   * @param nanos how late is what no step has seen
   */
  boolean step(long now, long nanos) {
    boolean worked = false;
    for (Runnable work = next(now, nanos); work != null; work = next(now, nanos)) {
      work.run();
      worked = true;
    }
    return worked;
  }

  private synchronized Runnable next(long now, long nanos) {
    for (Late late : waiting) {
      if (late.due == UNDATED) {
        late.due = now + nanos;
      }
    }
    return waiting.isEmpty() || waiting.getFirst().due > now ? null : waiting.remove().work;
  }

  /** When a step is due. */
  synchronized long nextDeadline() {
    return waiting.isEmpty() ? Long.MAX_VALUE : waiting.getFirst().due;
  }

  synchronized void clear() {
    waiting.clear();
  }
}
