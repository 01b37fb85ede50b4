package org.hghca.vfio;

import java.util.concurrent.locks.LockSupport;

/**
 * A pause of a thread that looks again and again for what another thread does, so that the other
 * one gets a processor.
 *
 * <p>A platform thread yields. A virtual thread parks for a moment: virtual threads that yield keep
 * the queue of their carrier full, and a carrier takes up threads that others have woken only when
 * its own queue is empty. The thread that is waited for may be one of these.
 */
public final class GiveWay {
  private static final long VIRTUAL_PAUSE_NANOS = 10_000;

  private static final boolean ALONE = Runtime.getRuntime().availableProcessors() == 1;

  private GiveWay() {}

  /**
   * How often a thread looks before each {@link #pause}.
   *
   * @param most where another processor may bring what it looks for
   * @return 1 where this process may use one processor only, by affinity or by quota: nobody brings
   *     it there while a thread looks
   */
  public static int looks(int most) {
    return ALONE ? 1 : most;
  }

  /**
   * Pauses once.
   *
   * @return whether the thread was interrupted. The interrupt is cleared, because with it no pause
   *     would be one: the caller sets it again when its wait is over
   */
  public static boolean pause() {
    if (!Thread.currentThread().isVirtual()) {
      Thread.yield();
      return false;
    }
    boolean interrupted = Thread.interrupted();
    LockSupport.parkNanos(VIRTUAL_PAUSE_NANOS);
    return interrupted;
  }
}
