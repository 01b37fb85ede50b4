package org.hghca.tools.bringup;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Waits;
import org.hghca.tools.raw.CardStoppedException;

/** The thread that accesses the board, so that a step that does not end ends the session. */
final class StepThread {
  /** Time limit of the current step after an interrupt, and of releasing the board. */
  private static final Duration GRACE = Duration.ofSeconds(3);

  /** A step that polls is in an access now and then; one that hangs in an access always is. */
  private static final int LOOKS = 10;

  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(10);

  /** The package of what accesses a function. */
  private static final String ACCESSES = "org.hghca.vfio.";

  private final Duration patience;
  private final Waits waits;
  private final AtomicReference<Thread> worker = new AtomicReference<>();
  private final ExecutorService thread = Executors.newSingleThreadExecutor(this::start);
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

  private Thread start(Runnable work) {
    Thread started = Thread.ofPlatform().daemon().name("bringup").unstarted(work);
    worker.set(started);
    return started;
  }

  /** Whether an action has not ended: the thread does nothing more until it does. */
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
      if (interrupted) {
        throw Observation.skip("interrupted, and the step did not end within " + GRACE);
      }
      if (isInAccess(future)) {
        throw new CardStoppedException(
            "the step did not end: an access to the card does not return");
      }
      throw Observation.notJudged(
          "the step did not end within %s, and no access to the card is pending: it is at %s"
              .formatted(patience.plus(longer), place()));
    } catch (ExecutionException e) {
      throw CardStoppedException.failureOf(e);
    }
  }

  /** Whether the action hangs in an access to the function. */
  private boolean isInAccess(Future<?> future) {
    for (int look = 0; look < LOOKS; look++) {
      if (frames().noneMatch(frame -> frame.getClassName().startsWith(ACCESSES))) {
        return false;
      }
      try {
        future.get(BETWEEN_LOOKS.toMillis(), TimeUnit.MILLISECONDS);
        return false;
      } catch (TimeoutException e) {
        // It is still there.
      } catch (ExecutionException e) {
        return false;
      } catch (InterruptedException e) {
        interrupted = true;
        waits.end();
      }
    }
    return true;
  }

  private Stream<StackTraceElement> frames() {
    return Arrays.stream(worker.get().getStackTrace());
  }

  private String place() {
    return frames()
        .filter(frame -> frame.getClassName().startsWith("org.hghca."))
        .findFirst()
        .map(StackTraceElement::toString)
        .orElse("its end");
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
   * Runs the last action: now, or once the action that is lost ends.
   *
   * @throws RuntimeException when it fails; none when it is to run later
   */
  void end(Runnable last) {
    if (lost) {
      thread.execute(() -> late(last));
      thread.shutdown();
      return;
    }
    try {
      run(last);
    } finally {
      thread.shutdown();
    }
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
