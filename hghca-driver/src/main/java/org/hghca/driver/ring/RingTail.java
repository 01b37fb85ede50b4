package org.hghca.driver.ring;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Where completions have come in a send ring: what the poller writes, in cache lines of its own, so
 * that a poster and a poller on two cores do not take each other's lines away.
 */
abstract class RingTail {
  private static final VarHandle TAIL;

  static {
    try {
      TAIL = MethodHandles.lookup().findVarHandle(RingTail.class, "tail", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private int tail;

  /** The head as the poller saw it last, which leaves its cache line to posters. */
  private int known;

  /**
   * Two lines, since processors fetch them in pairs, between these fields and those of a poster.
   */
  @SuppressWarnings("unused")
  private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15;

  /** How many requests are complete: the position of the oldest outstanding one. */
  public final int tail() {
    return (int) TAIL.getAcquire(this);
  }

  /** As {@link #tail}, for the poller, who alone moves it. */
  protected final int ownTail() {
    return tail;
  }

  /** The requests before a position are complete, and their slots free. */
  final void free(int to) {
    TAIL.setRelease(this, to);
  }

  /** Forgets everything. */
  final void resetTail() {
    known = 0;
    free(0);
  }

  /** The position behind the last request that was posted. */
  protected abstract int head();

  /** Whether a request is outstanding, for the poller. */
  final boolean hasOutstanding() {
    return known - tail > 0 || seesMore();
  }

  private boolean seesMore() {
    known = head();
    return known - tail > 0;
  }
}
