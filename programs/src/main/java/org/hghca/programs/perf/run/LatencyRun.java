package org.hghca.programs.perf.run;

import java.util.Arrays;
import java.util.Optional;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.result.Course;
import org.hghca.programs.perf.result.DurationLatency;
import org.hghca.programs.perf.result.LatencyResult;

/**
 * One measurement of latency: rounds one after another, with the time before each message. Nothing
 * is allocated meanwhile. Not thread-safe.
 */
public final class LatencyRun {
  private static final double SECOND = 1e9;

  private final Round round;
  private final long size;
  private final boolean halves;
  private final long[] posted;
  private final long[] answered;
  private final long gap;
  private final Parameters.Amount amount;
  private final Progress progress;
  private Optional<Course> course = Optional.empty();
  private long rounds;
  private long start;

  /** Prepares it; posts the receives, if there are any. */
  public LatencyRun(Resources resources, boolean client, long size) {
    this.size = size;
    Parameters parameters = resources.parameters();
    amount = parameters.amount();
    progress = new Progress(parameters, size);
    boolean timed = amount.span().isPresent();
    halves = !parameters.test().verb().isRequest();
    posted = new long[timed ? 0 : Math.toIntExact(amount.iterations())];
    gap = amount.rate().map(rate -> (long) (SECOND / rate.messagesPerSecond())).orElse(0L);
    answered = new long[gap == 0 ? 0 : posted.length];
    round =
        switch (parameters.test().verb()) {
          case SEND ->
              new SendRound(resources, client, size, timed ? Long.MAX_VALUE : amount.iterations());
          case WRITE -> new WriteRound(resources, client, size);
          case READ, ATOMIC -> new RequestRound(resources, size);
        };
  }

  /**
   * Runs it.
   *
   * @return the result of all rounds, or of those until the thread was interrupted; empty when
   *     those were too few
   */
  public Optional<LatencyResult> run() {
    long received = 0;
    boolean running = true;
    while (running && rounds < posted.length) {
      if (rounds > 0 || !round.begins()) {
        running = round.receive(++received, LatencyRun::never);
        answered();
      }
      running = running && awaitDue();
      if (running) {
        rounds++;
        progress.done(rounds);
        running = round.send(rounds);
      }
    }
    if (running && received < rounds) {
      boolean _ = round.receive(received + 1, LatencyRun::never);
      answered();
    }
    if (rounds < LatencyResult.TAIL + 3) {
      return Optional.empty();
    }
    int count = (int) rounds;
    if (gap == 0) {
      return Optional.of(LatencyResult.of(size, Arrays.copyOf(posted, count), halves));
    }
    int ends = answered[count - 1] == 0 ? count - 1 : count;
    return Optional.of(
        LatencyResult.of(
            size, Arrays.copyOf(posted, count), Arrays.copyOf(answered, ends), halves));
  }

  /** Keeps when the message before was answered. */
  private void answered() {
    if (gap > 0 && rounds > 0) {
      answered[(int) rounds - 1] = System.nanoTime();
    }
  }

  /** Waits until the next message is due, and keeps that time; false for an interrupt. */
  private boolean awaitDue() {
    int number = (int) rounds;
    long now = System.nanoTime();
    posted[number] = gap == 0 || number == 0 ? now : posted[number - 1] + gap;
    while (now - posted[number] < 0 && !Thread.currentThread().isInterrupted()) {
      Thread.onSpinWait();
      now = System.nanoTime();
    }
    return !Thread.currentThread().isInterrupted();
  }

  /** How far it is. */
  public Progress progress() {
    return progress;
  }

  /** The rate over the time, of a measurement by time that has ended. */
  public Optional<Course> course() {
    return course;
  }

  private static boolean never() {
    return false;
  }

  /** Runs it for some time. */
  public DurationLatency runFor(Parameters.Span span) {
    start = System.nanoTime();
    Window window = new Window(span, start);
    long end = span.whole().toNanos();
    long received = 0;
    boolean running = true;
    while (running) {
      if (rounds > 0 || !round.begins()) {
        running = round.receive(++received, () -> System.nanoTime() - start >= end);
      }
      running = running && round.send(++rounds);
      progress.done(rounds);
      running = !window.look(System.nanoTime(), rounds) && running;
      // A device may answer at once, so that nothing waits.
      running = running && !Thread.currentThread().isInterrupted();
    }
    window.stop(System.nanoTime(), rounds);
    course = Optional.of(window.course(size));
    return DurationLatency.of(size, window.counted(), window.nanos(), halves);
  }
}
