package org.hghca.sockets.stream;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Runs a test of a connection at intervals, as long as it is switched on. Thread-safe. */
final class KeepAlive {
  private final Runnable test;
  private CompletableFuture<Void> next = CompletableFuture.completedFuture(null);

  /** How often it was switched. */
  private int switched;

  /**
   * Switched off.
   *
   * @param test must not block
   */
  KeepAlive(Runnable test) {
    this.test = test;
  }

  /** Tests from now on, first after one interval. */
  synchronized void start(int seconds) {
    stop();
    plan(switched, seconds);
  }

  private void plan(int turn, int seconds) {
    next = new CompletableFuture<>();
    var _ =
        next.completeOnTimeout(null, seconds, TimeUnit.SECONDS)
            .thenRunAsync(() -> run(turn, seconds), Thread::startVirtualThread);
  }

  private void run(int turn, int seconds) {
    test.run();
    synchronized (this) {
      if (switched == turn) {
        plan(turn, seconds);
      }
    }
  }

  /** Tests no more. */
  synchronized void stop() {
    switched++;
    next.cancel(false);
  }
}
