package org.hghca.sockets.stream;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** How a connect ends: one stream or one exception, for whoever waits for it. Thread-safe. */
final class Outcome {
  private RdmaStream stream;
  private IOException failure;
  private Runnable watcher;
  private boolean taken;

  /** Says whether this is the first end of it. */
  boolean complete(RdmaStream made) {
    return end(made, null);
  }

  /** Says whether this is the first end of it. */
  boolean fail(IOException why) {
    return end(null, why);
  }

  private boolean end(RdmaStream made, IOException why) {
    Runnable told;
    synchronized (this) {
      if (isDone()) {
        return false;
      }
      stream = made;
      failure = why;
      told = watcher;
      notifyAll();
    }
    if (told != null) {
      told.run();
    }
    return true;
  }

  synchronized boolean isDone() {
    return stream != null || failure != null;
  }

  /** {@link PendingConnect#finish}. */
  synchronized RdmaStream take() throws IOException {
    if (failure != null) {
      throw failure;
    }
    if (stream == null || taken) {
      throw new IllegalStateException(taken ? "the stream is taken" : "the connect is under way");
    }
    taken = true;
    return stream;
  }

  /** The stream that nobody has taken, and takes from now on; null if there is none. */
  synchronized RdmaStream untaken() {
    RdmaStream left = taken ? null : stream;
    taken = true;
    return left;
  }

  void watch(Runnable onChange) {
    boolean done;
    synchronized (this) {
      watcher = onChange;
      done = isDone();
    }
    if (done && onChange != null) {
      onChange.run();
    }
  }

  /** {@link PendingConnect#await}; returns early when the thread is interrupted. */
  synchronized boolean await(long deadlineNanos) {
    try {
      while (!isDone()) {
        long left = Moments.left(deadlineNanos);
        if (left <= 0) {
          return false;
        }
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return true;
  }
}
