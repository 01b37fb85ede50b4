package org.hghca.tools.bringup;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Waits;
import org.hghca.tools.raw.CardStoppedException;

/** The thread that accesses the board, so that an access that does not return ends the session. */
final class StepThread {
  /** Time limit of the current step after an interrupt, and of releasing the board. */
  private static final Duration GRACE = Duration.ofSeconds(3);

  private final Duration patience;
  private final Waits waits;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("bringup").factory());
  private boolean lost;
  private boolean interrupted;

  /**
   * A thread that does nothing yet.
   *
   * @param patience how long an action may take
   * @param waits what an interrupt ends
   */
  StepThread(Duration patience, Waits waits) {
    this.patience = patience;
    this.waits = waits;
  }

  /** Whether an access has not returned: the thread does nothing more until it does. */
  boolean isLost() {
    return lost;
  }

  /** Whether the calling thread was interrupted. */
  boolean isInterrupted() {
    return interrupted;
  }

  /** Runs an action, up to the time limit. */
  void run(Runnable work) {
    run(Duration.ZERO, work);
  }

  /**
   * Runs an action, up to the time limit.
   *
   * @param longer is added to the time limit
   */
  void run(Duration longer, Runnable work) {
    Future<?> future = thread.submit(work);
    try {
      await(future, longer);
    } catch (TimeoutException e) {
      lost = true;
      // After an interrupt the step had little time, which says nothing about the card.
      throw interrupted
          ? Observation.skip("interrupted, and the step did not end within " + GRACE)
          : new CardStoppedException("the step did not end: an access to the card does not return");
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case RuntimeException failure -> throw failure;
        // A mapped register that is gone faults; the JVM reports that as an InternalError.
        case InternalError fault ->
            throw new CardStoppedException(
                "an access to a register faulted: " + fault.getMessage());
        case Error error -> throw error;
        default -> throw new IllegalStateException(e.getCause());
      }
    }
  }

  /** Waits up to the time limit, and only briefly once it is interrupted. */
  private void await(Future<?> future, Duration longer)
      throws TimeoutException, ExecutionException {
    while (true) {
      Duration limit = interrupted ? GRACE : patience.plus(longer);
      try {
        future.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        return;
      } catch (InterruptedException e) {
        interrupted = true;
        waits.end();
      }
    }
  }

  /**
   * Runs the last action: now, or once the access that is lost returns.
   *
   * @return whether it has ended; if not, the card has stopped
   */
  boolean end(Runnable last) {
    boolean ended = lost;
    if (!lost) {
      try {
        run(last);
        ended = true;
      } catch (RuntimeException e) {
        ended = false;
      }
    }
    if (lost) {
      thread.execute(() -> late(last));
      thread.shutdown();
    } else {
      thread.shutdownNow();
    }
    return ended;
  }

  /** An access that did not return has returned after the session. */
  private static void late(Runnable last) {
    try {
      last.run();
    } catch (RuntimeException e) {
      // The session had already ended and reported its result.
    }
  }
}
