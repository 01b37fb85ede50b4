package org.hghca.tools.card;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.hghca.tools.raw.CardStoppedException;

/**
 * The thread that accesses the card, so that an access that does not return, and a Ctrl-C, end the
 * session all the same.
 */
final class CardThread {
  /** The time for an end after an interrupt. */
  private static final Duration GRACE = Duration.ofSeconds(3);

  private final Duration patience;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("card").factory());
  private boolean interrupted;
  private boolean lost;

  CardThread(Duration patience) {
    this.patience = patience;
  }

  /** Whether the calling thread was interrupted. */
  boolean isInterrupted() {
    return interrupted;
  }

  /** Whether an access has not returned: the thread does nothing more until it does. */
  boolean isLost() {
    return lost;
  }

  /** The calling thread was interrupted while it did something else. */
  void interrupt() {
    interrupted = true;
  }

  /**
   * Runs work and waits for its end. An interrupt of the calling thread ends that, and is
   * remembered; later work has little time.
   *
   * @throws CardStoppedException when it does not end
   */
  void run(Runnable work) {
    Future<?> future = thread.submit(work);
    try {
      future.get((interrupted ? GRACE : patience).toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      interrupted = true;
      future.cancel(true); // ends the wait for a command
    } catch (TimeoutException e) {
      lost = true;
      throw new CardStoppedException(
          "an access to the card does not return: reset or power cycle it");
    } catch (ExecutionException e) {
      throw CardStoppedException.failureOf(e);
    }
  }

  /** Runs the last work, now or once the access that is lost returns. */
  void end(Runnable last) {
    try {
      if (lost) {
        thread.execute(last);
      } else {
        run(last);
      }
    } finally {
      thread.shutdown();
    }
  }
}
