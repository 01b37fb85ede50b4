package org.hghca.vfio.user;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.hghca.linux.TimeSlice;
import org.hghca.vfio.GiveWay;
import org.hghca.vfio.linux.HostCalls;

/**
 * The thread that looks at the rings of all clients of this process and executes their writes: a
 * few of each in turn. After the last one it looks for a moment, then sleeps until a client
 * announces a write. It never waits for a client. There is a thread while there are rings.
 * Thread-safe.
 */
final class RegisterRingPoller implements Runnable {
  /** How long it looks for a write, unless no other processor can bring one meanwhile. */
  private static final long LOOKS_NANOS =
      GiveWay.looks(2) == 1 ? 0 : TimeUnit.MICROSECONDS.toNanos(50);

  /** Writes of one client before others have a turn. */
  private static final int TURN = 16;

  private static final RegisterRingPoller SHARED = new RegisterRingPoller();

  /** Replaced as a whole, under the monitor. */
  private volatile RegisterRingReceiver[] rings = {};

  /** Null while there are no rings; changed under the monitor. */
  private volatile Thread thread;

  /** Whether it must look before it sleeps. */
  private volatile boolean wanted;

  private RegisterRingPoller() {}

  static RegisterRingPoller shared() {
    return SHARED;
  }

  /** Begins to look at a ring. */
  synchronized void add(RegisterRingReceiver ring) {
    RegisterRingReceiver[] more = Arrays.copyOf(rings, rings.length + 1);
    more[rings.length] = ring;
    rings = more;
    if (thread == null) {
      thread = Thread.ofPlatform().daemon().name("hghca-registers").unstarted(this);
      thread.start();
    } else {
      wake();
    }
  }

  /** Forgets a ring; the thread may still look at it, as long as that is not closed. */
  synchronized void remove(RegisterRingReceiver ring) {
    rings =
        Arrays.stream(rings)
            .filter(other -> !other.equals(ring))
            .toArray(RegisterRingReceiver[]::new);
    wake();
  }

  /** There may be writes: it looks at all rings after this call. */
  void wake() {
    wanted = true;
    LockSupport.unpark(thread);
  }

  /** For tests: the thread; null where there are no rings. */
  Thread thread() {
    return thread;
  }

  @Override
  public void run() {
    TimeSlice.set(HostCalls.system(), TimeSlice.SHORTEST);
    long until = System.nanoTime() + LOOKS_NANOS;
    while (!isEnd()) {
      if (look()) {
        until = System.nanoTime() + LOOKS_NANOS;
      } else if (System.nanoTime() - until < 0) {
        Thread.yield(); // the clients that poll for what follows may have no other processor
      } else if (sleep()) {
        until = System.nanoTime() + LOOKS_NANOS;
      }
    }
  }

  private boolean isEnd() {
    if (rings.length > 0) {
      return false;
    }
    synchronized (this) {
      if (rings.length > 0) {
        return false;
      }
      thread = null;
      return true;
    }
  }

  /** Gives each client a turn; returns whether one had written something. */
  private boolean look() {
    boolean found = false;
    for (RegisterRingReceiver ring : rings) {
      found |= ring.take(TURN);
    }
    return found;
  }

  /**
   * Sleeps until a client announces a write, or another thread wants a look.
   *
   * @return false if it did not, because there is something to do
   */
  private boolean sleep() {
    boolean sleeps = true;
    RegisterRingReceiver[] present = rings;
    for (RegisterRingReceiver ring : present) {
      sleeps &= ring.sleep();
    }
    sleeps &= !wanted;
    while (sleeps && !wanted) {
      LockSupport.park(this);
    }
    wanted = false; // before the look that it asks for
    for (RegisterRingReceiver ring : present) {
      ring.wakeUp();
    }
    return sleeps;
  }
}
