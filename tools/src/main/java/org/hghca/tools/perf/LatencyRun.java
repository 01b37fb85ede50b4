package org.hghca.tools.perf;

import java.util.Arrays;

/**
 * One measurement of latency: rounds one after another, with the time before each message. Nothing
 * is allocated meanwhile. Not thread-safe.
 */
final class LatencyRun {
  private static final double SECOND = 1e9;

  private final Round round;
  private final long size;
  private final boolean halves;
  private final long[] posted;
  private final long[] answered;
  private final long gap;
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
   * @return the result of all rounds, or of those until the thread was interrupted
   * @throws PerfException when those were too few
   */
  LatencyResult run() {
    long received = 0;
    boolean goesOn = true;
    while (goesOn && rounds < posted.length) {
      if (rounds > 0 || !round.begins()) {
        goesOn = round.receive(++received, LatencyRun::never);
        answered();
      }
      goesOn = goesOn && awaitDue();
      if (goesOn) {
        rounds++;
        goesOn = round.send(rounds);
      }
    }
    if (goesOn && received < rounds) {
      boolean _ = round.receive(received + 1, LatencyRun::never);
      answered();
    }
    if (rounds < LatencyResult.TAIL + 3) {
      throw new PerfException("interrupted after %d messages".formatted(rounds));
    }
    int count = (int) rounds;
    if (gap == 0) {
      return LatencyResult.of(size, Arrays.copyOf(posted, count), halves);
    }
    int ends = answered[count - 1] == 0 ? count - 1 : count;
    return LatencyResult.of(
        size, Arrays.copyOf(posted, count), Arrays.copyOf(answered, ends), halves);
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
    while (now - posted[number] < 0) {
      if (Thread.currentThread().isInterrupted()) {
        return false;
      }
      Thread.onSpinWait();
      now = System.nanoTime();
    }
    return true;
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
