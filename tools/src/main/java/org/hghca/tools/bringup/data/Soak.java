package org.hghca.tools.bringup.data;

import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.StepFailedException;
import org.hghca.tools.raw.CardStoppedException;

/**
 * Streams of messages for hours: each error is recorded with its time, and the next stream
 * continues with new queue pairs. A card of the makers' RTL is reset before it runs out of numbers.
 */
final class Soak {
  /** Messages of a stream: far fewer than the PSNs of a queue pair. */
  private static final int MESSAGES = 200_000;

  /** Streams between two resets of a card whose numbers must not be used again. */
  private static final int STREAMS = 20;

  private static final int MOST_ERRORS = 100;
  private static final Duration PART = Duration.ofSeconds(1);

  private final Driver driver;
  private long messages;
  private long bytes;
  private int streams;
  private int resets;
  private int errors;
  private String first = "";

  Soak(Driver driver) {
    this.driver = driver;
  }

  void run(Observation o, Duration time) {
    o.expect("no error in %s".formatted(text(time)));
    long start = System.nanoTime();
    boolean limited = driver.abilities().needsCleanState();
    while (System.nanoTime() - start < time.toNanos()) {
      if (limited && streams % STREAMS == 0) {
        reset(o, start);
      }
      stream(o, start, time);
      driver.release();
    }
    o.saw(
        "%,d messages, %,d bytes, in %,d streams, %d queue pairs and as many CQs each%s"
            .formatted(
                messages, bytes, streams, 2, limited ? "; %,d resets".formatted(resets) : ""));
    o.check(errors == 0, "%,d errors in %s, the first %s".formatted(errors, text(time), first));
  }

  private void reset(Observation o, long start) {
    long refused = driver.left().counters().dmaFaults();
    driver.reopen();
    resets++;
    if (refused > 0) {
      failed(
          o,
          "after %s: %d accesses to memory were refused before this reset"
              .formatted(elapsed(start), refused));
    }
  }

  private void stream(Observation o, long start, Duration time) {
    int sent = 0;
    try (MessageStream stream = new MessageStream(driver, (long) streams++ * MESSAGES)) {
      try {
        Duration left = left(start, time);
        while (sent < MESSAGES && left.isPositive()) {
          Quota quota = new Quota(left.compareTo(PART) < 0 ? left : PART, MESSAGES - sent, 0);
          stream.run(o, quota);
          sent += quota.done();
          o.progress(
              "soak: %s of %s, %,d messages, %d errors"
                  .formatted(elapsed(start), text(time), messages + sent, errors));
          left = left(start, time);
        }
      } finally {
        messages += sent;
        bytes += stream.bytes();
      }
    } catch (StepFailedException e) {
      failed(o, "after %s: %s".formatted(elapsed(start), e.getMessage()));
    }
  }

  private static Duration left(long start, Duration time) {
    return time.minusNanos(System.nanoTime() - start);
  }

  private void failed(Observation o, String line) {
    errors++;
    first = first.isEmpty() ? line : first;
    o.error(
        "%s %s"
            .formatted(
                LocalDateTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS), line));
    o.saw(line);
    if (driver.isBroken()) {
      throw new CardStoppedException(line);
    }
    o.check(
        errors < MOST_ERRORS && !driver.isKept(),
        "%,d errors, the first %s".formatted(errors, first));
  }

  private static String elapsed(long start) {
    return text(Duration.ofNanos(System.nanoTime() - start));
  }

  private static String text(Duration time) {
    return "%d:%02d:%02d".formatted(time.toHours(), time.toMinutesPart(), time.toSecondsPart());
  }
}
