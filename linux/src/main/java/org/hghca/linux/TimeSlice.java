package org.hghca.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * How long a thread runs before the scheduler asks who is next. A thread with a short slice gets a
 * processor as soon as it wakes, even where others spin on all of them; in the long run it gets no
 * more than they do. Linux takes slices of ordinary threads from 6.12 on, without privilege, and
 * ignores them before.
 *
 * <pre>
 * struct sched_attr (48)
 *  00h its size     10h nice
 *  04h policy       14h priority
 *  08h flags        18h slice in nanoseconds
 * </pre>
 */
public final class TimeSlice {
  private static final int SIZE = 48;
  private static final int SLICE = 0x18;

  /** The shortest that Linux takes: 0.1 ms. */
  public static final long SHORTEST = 100_000;

  private TimeSlice() {}

  /**
   * Sets the slice of the calling thread.
   *
   * @param nanos {@link #SHORTEST} and more
   * @return whether the system has taken it; nothing depends on that but time
   */
  public static boolean set(SystemCalls linux, long nanos) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = arena.allocate(SIZE, 8);
      if (linux.schedulingAttributes(attributes) < 0) {
        return false;
      }
      attributes.set(ValueLayout.JAVA_INT, 0, SIZE);
      attributes.set(ValueLayout.JAVA_LONG, SLICE, nanos);
      return linux.setSchedulingAttributes(attributes) == 0;
    }
  }
}
