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

  private GiveWay() {}

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
