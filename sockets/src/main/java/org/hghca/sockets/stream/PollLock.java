package org.hghca.sockets.stream;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * Who polls: one thread at a time, for which nobody waits. A thread that must know that somebody
 * polls after it came leaves a request, which the thread that polls fulfils before it goes.
 */
final class PollLock {
  private static final int FREE = 0;
  private static final int HELD = 1;
  private static final int AGAIN = 2;

  private final AtomicInteger state = new AtomicInteger();
  private final BooleanSupplier poll;

  /**
   * Nobody polls.
   *
   * @param poll takes some completions, and says whether there were any; what it throws is the
   *     caller's, and leaves the lock free
   */
  PollLock(BooleanSupplier poll) {
    this.poll = poll;
  }

  /**
   * Polls once, unless another thread does.
   *
   * @return whether something was found
   */
  boolean tryPoll() {
    if (state.get() != FREE || !state.compareAndSet(FREE, HELD)) {
      return false;
    }
    boolean found = polls();
    release();
    return found;
  }

  private boolean polls() {
    boolean returns = false;
    try {
      boolean found = poll.getAsBoolean();
      returns = true;
      return found;
    } finally {
      if (!returns) {
        state.set(FREE);
      }
    }
  }

  /** Polls until nothing is found, or has the thread that polls now do so. */
  void pollAll() {
    while (!state.compareAndSet(FREE, HELD)) {
      if (state.get() == AGAIN || state.compareAndSet(HELD, AGAIN)) {
        return;
      }
    }
    drain();
    release();
  }

  private void drain() {
    while (polls()) {
      // there may be more
    }
  }

  private void release() {
    while (!state.compareAndSet(HELD, FREE)) {
      state.set(HELD);
      drain();
    }
  }

  /** Runs an action while nobody polls. */
  void exclusively(Runnable action) {
    while (!state.compareAndSet(FREE, HELD)) {
      Thread.yield();
    }
    try {
      action.run();
    } finally {
      release();
    }
  }
}
