package org.hghca.conformance.interop;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A moment between two looks at what a test waits for. A thread that spins takes a processor from
 * the emulated guest, for which it waits.
 */
final class Pause {
  private static final long NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  private Pause() {}

  static void briefly() {
    LockSupport.parkNanos(NANOS);
  }
}
