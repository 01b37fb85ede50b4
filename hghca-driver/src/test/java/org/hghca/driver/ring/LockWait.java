package org.hghca.driver.ring;

import java.util.Arrays;
import org.hghca.provider.queue.SpinLock;

/** A thread that a test has at a lock. */
public final class LockWait {
  private LockWait() {}

  /** Whether a thread waits for a spin lock, or has ended. */
  public static boolean isAtALockOrOver(Thread thread) {
    return !thread.isAlive()
        || Arrays.stream(thread.getStackTrace())
            .anyMatch(frame -> frame.getClassName().equals(SpinLock.class.getName()));
  }
}
