package org.hghca.programs.perf.suite;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.hghca.programs.peer.PeerException;
import org.hghca.programs.peer.ReadyDevice;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfException;
import org.hghca.programs.perf.Verb;
import org.hghca.programs.perf.result.Figure;
import org.hghca.programs.perf.result.LatencyResult;
import org.hghca.programs.perf.run.Watcher;
import org.hghca.programs.perf.session.BothSides;
import org.hghca.programs.perf.session.BothSides.Outcome;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * Measures rows one after another, each for about the same time; for less of it when those before
 * took longer, as on a busy machine. A row that fails does not end it. Not thread-safe.
 */
public final class Suite {
  /** Messages that tell how many there are in the time of a row; they also warm the code up. */
  private static final int PROBE = 200;

  private static final int LEAST = 100;
  private static final int MOST = 200_000;

  private static final int LONGER = 8;

  /** Warm-ups before the first test: it has all of the path compiled, the others what differs. */
  private static final int FIRST = 6;

  /** A shorter measurement may count no message; in the card's time. */
  private static final Duration SHORTEST = Duration.ofMillis(50);

  private static final double NANOS = 1000;

  private final BothSides sides;
  private final Duration each;
  private final Function<String, Watcher> watchers;
  private final Consumer<Row> rows;
  private Watcher watcher = Watcher.none();
  private int begun;
  private int all;
  private int left;
  private long end;

  /**
   * Of two devices.
   *
   * @param each about how long a row takes, and the warming up before the rows of each test
   * @param watchers the one that is told of the measurements of a row, of which it gets the name
   * @param rows gets each row when it is measured
   */
  public Suite(
      BothSides sides, Duration each, Function<String, Watcher> watchers, Consumer<Row> rows) {
    this.sides = sides;
    this.each = each;
    this.watchers = watchers;
    this.rows = rows;
  }

  /**
   * Measures.
   *
   * @param tests each with its sizes
   * @return whether all was measured; otherwise the thread was interrupted
   */
  public boolean run(List<List<Parameters>> tests) {
    all = tests.stream().mapToInt(List::size).sum();
    left = all + tests.size();
    end = System.nanoTime() + each.multipliedBy(left).toNanos();
    left += FIRST;
    for (int i = 0; i < FIRST && !tests.isEmpty(); i++) {
      warmUp(tests.getFirst().getFirst());
    }
    return tests.stream().allMatch(this::sizes);
  }

  private boolean sizes(List<Parameters> sizes) {
    Parameters smallest = sizes.getFirst();
    if (smallest.test().verb() == Verb.ATOMIC
        && !sides.client().context().queryDevice().atomics()) {
      begun += sizes.size();
      left -= sizes.size() + 1;
      rows.accept(new Row.Unsupported(smallest, "it has no atomics"));
      return true;
    }
    warmUp(smallest);
    int before = begun;
    for (Parameters parameters : sizes) {
      watcher = watch(parameters);
      try {
        Outcome outcome = measure(parameters);
        if (!outcome.figures().isEmpty()) {
          Figure figure = outcome.figures().getLast();
          rows.accept(
              new Row.Measured(parameters, figure, outcome.courses(), outcome.document().toJson()));
        }
        if (!outcome.whole()) {
          return false;
        }
      } catch (VerbsException e) {
        if (e.errno() == Errno.EOPNOTSUPP) {
          rows.accept(new Row.Unsupported(parameters, e.getMessage()));
          left -= before + sizes.size() - begun;
          begun = before + sizes.size();
          return true;
        }
        rows.accept(new Row.Failed(parameters, e.getMessage()));
      } catch (RuntimeException e) {
        String why =
            e instanceof PerfException || e instanceof PeerException
                ? e.getMessage()
                : e.toString();
        rows.accept(new Row.Failed(parameters, why));
      }
    }
    return true;
  }

  private Watcher watch(Parameters parameters) {
    begun++;
    return watchers.apply(
        "%d of %d: %s, %s".formatted(begun, all, parameters.test().program(), parameters.type()));
  }

  /** What is measured first is slow: the JVM has not compiled it yet. */
  private void warmUp(Parameters parameters) {
    try {
      Outcome outcome = measure(parameters);
      if (!outcome.whole()) {
        Thread.currentThread().interrupt();
      }
    } catch (RuntimeException e) {
      // The row itself says so.
    }
  }

  /** Measures one row; once more and for longer when no message was counted in the time. */
  private Outcome measure(Parameters parameters) {
    Duration share = share();
    if (!parameters.test().isBandwidth()) {
      Outcome probe = sides.run(parameters.of(PROBE), Watcher.none());
      return probe.whole()
          ? sides.run(parameters.of(count(probe, parameters, share)), watcher)
          : probe;
    }
    Outcome outcome = sides.run(parameters.lasting(Parameters.Span.of(share)), watcher);
    if (outcome.whole() && isEmpty(outcome)) {
      outcome =
          sides.run(parameters.lasting(Parameters.Span.of(share.multipliedBy(LONGER))), watcher);
    }
    if (outcome.whole() && isEmpty(outcome)) {
      throw new PerfException(
          "no message was counted in %d ms".formatted(share.multipliedBy(LONGER).toMillis()));
    }
    return outcome;
  }

  /** The time of the next measurement: its part of what is left, at most that of each. */
  private Duration share() {
    Duration part = Duration.ofNanos((end - System.nanoTime()) / Math.max(1, left--));
    Duration shortest = ReadyDevice.timeOf(sides.client().context()).stretch(SHORTEST);
    Duration least = each.compareTo(shortest) < 0 ? each : shortest;
    if (part.compareTo(least) < 0) {
      return least;
    }
    return part.compareTo(each) > 0 ? each : part;
  }

  private static boolean isEmpty(Outcome outcome) {
    return outcome.figures().getLast().iterations() == 0;
  }

  /** How many round trips fit into the time. */
  private static long count(Outcome probe, Parameters parameters, Duration share) {
    LatencyResult result = (LatencyResult) probe.figures().getLast();
    int ways = parameters.test().verb().isRequest() ? 1 : 2;
    double count = share.toNanos() / (result.typical() * NANOS * ways);
    return Math.clamp((long) count, LEAST, MOST);
  }
}
