package org.hghca.tools.perf;

import java.util.Arrays;

/**
 * One measurement of latency: rounds one after another, with the time before each message. Nothing
 * is allocated meanwhile. Not thread-safe.
 */
final class LatencyRun {
  private final Round round;
  private final long size;
  private final boolean halves;
  private final long[] posted;
  private final Parameters.Amount amount;
  private long rounds;
  private long start;

  /** Prepares it; posts the receives, if there are any. */
  LatencyRun(Resources resources, boolean client, long size) {
    this.size = size;
    Parameters parameters = resources.parameters();
    amount = parameters.amount();
    boolean timed = amount.span().isPresent();
    halves = !parameters.test().verb().isRequest();
    posted = new long[timed ? 0 : Math.toIntExact(amount.iterations())];
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
   * @return the result of all rounds, or of those until the thread was interrupted
   * @throws PerfException when those were too few
   */
  LatencyResult run() {
    long received = 0;
    boolean goesOn = true;
    while (goesOn && rounds < posted.length) {
      if (rounds > 0 || !round.begins()) {
        goesOn = round.receive(++received, LatencyRun::never);
      }
      if (goesOn) {
        posted[(int) rounds++] = System.nanoTime();
        goesOn = round.send(rounds);
      }
    }
    if (goesOn && received < rounds) {
      boolean _ = round.receive(received + 1, LatencyRun::never);
    }
    if (rounds < LatencyResult.TAIL + 3) {
      throw new PerfException("interrupted after %d messages".formatted(rounds));
    }
    return LatencyResult.of(size, Arrays.copyOf(posted, (int) rounds), halves);
  }

  private static boolean never() {
    return false;
  }

  /** Runs it for some time. */
  DurationLatency runFor(Parameters.Span span) {
    start = System.nanoTime();
    Window window = new Window(span, start);
    long end = span.whole().toNanos();
    long received = 0;
    boolean goesOn = true;
    while (goesOn) {
      if (rounds > 0 || !round.begins()) {
        goesOn = round.receive(++received, () -> System.nanoTime() - start >= end);
      }
      goesOn = goesOn && round.send(++rounds);
      goesOn = !window.look(System.nanoTime(), rounds) && goesOn;
    }
    window.stop(System.nanoTime(), rounds);
    return DurationLatency.of(size, window.counted(), window.nanos(), halves);
  }
}
