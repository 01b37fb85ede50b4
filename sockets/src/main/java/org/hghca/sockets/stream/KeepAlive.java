package org.hghca.sockets.stream;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Runs a test of a connection at intervals, as long as it is switched on. Thread-safe. */
final class KeepAlive {
  private final Runnable test;
  private CompletableFuture<Void> next = CompletableFuture.completedFuture(null);

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
    CompletableFuture<Void> timer = new CompletableFuture<>();
    next = timer;
    var _ =
        timer
            .completeOnTimeout(null, seconds, TimeUnit.SECONDS)
            .thenRunAsync(() -> run(timer, seconds), Thread::startVirtualThread);
  }

  private void run(CompletableFuture<Void> timer, int seconds) {
    test.run();
    synchronized (this) {
      if (next.equals(timer)) {
        start(seconds);
      }
    }
  }

  /** Tests no more. */
  synchronized void stop() {
    next.cancel(false);
    next = CompletableFuture.completedFuture(null);
  }
}
