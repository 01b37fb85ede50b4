package org.hghca.tools.demo;

import java.io.PrintWriter;
import java.io.Writer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.HdrHistogram.Histogram;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfException;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.medium.Device;
import org.hghca.programs.perf.result.BandwidthReport;
import org.hghca.programs.perf.result.Figure;
import org.hghca.programs.perf.result.LatencyResult;
import org.hghca.programs.perf.run.Watcher;
import org.hghca.programs.perf.session.BothSides;
import org.hghca.programs.perf.session.PerfSession;
import org.hghca.tools.perf.CompilerRest;

/**
 * Measures as {@code hghca perf} does, each time when the compilers of both sides rest, or have had
 * time enough for it.
 */
final class Measurements {
  private static final int SMALL_BYTES = 8;

  /** RDMA WRITEs of small messages that are posted at once. */
  private static final int SMALL_LIST = 16;

  private static final Parameters.Route ROUTE =
      Parameters.Route.tcp(Side.PORT, OptionalInt.of(Side.GID_INDEX));

  private static final Message<Long> NUMBER =
      new Message<>("number", Object::toString, Long::valueOf);

  /** What is measured at once to warm up. */
  private static final Duration WARM_UP = Duration.ofMillis(300);

  /** How many times as long as a measurement is asked to take its warming up takes at most. */
  private static final long LONGEST_WARM_UP = 16;

  /** A shorter measurement may count no message; in the card's time. */
  private static final Duration SHORTEST = Duration.ofMillis(50);

  /** On a busy machine none may be counted: then it takes longer, and longer again. */
  private static final long LONGER = 8;

  private static final long LONGEST = LONGER * LONGER;

  /** Round trips that are measured at once; the least tell how many there are in a time. */
  private static final long LEAST = 50;

  private static final long MOST = 200_000;

  private static final double ROUND_TRIP_NANOS = 2000;
  private static final long LONGEST_NANOS = 4_000_000_000L;

  private final Sides sides;
  private final long nanos;
  private final long warmUp;
  private final Duration longestWarmUp;
  private final int room;

  /**
   * Of devices that are not busy.
   *
   * @param nanos how long each of the four is measured
   */
  Measurements(Sides sides, long nanos) {
    this.sides = sides;
    this.nanos =
        sides
            .client()
            .share(NUMBER, side -> Math.max(nanos, side.time().stretch(SHORTEST).toNanos()));
    longestWarmUp = Duration.ofNanos(LONGEST_WARM_UP * nanos);
    warmUp = Math.min(this.nanos, WARM_UP.toNanos());
    room = Math.toIntExact(Math.min(room(sides.server()), room(sides.client())));
  }

  private static long room(Part<Side> part) {
    return part.share(NUMBER, side -> (long) Parameters.room(side.context().queryDevice()));
  }

  /**
   * Measures.
   *
   * @param messageBytes the size of large messages
   * @throws CheckFailedException when a message fails
   */
  Speeds run(int messageBytes) {
    Parameters rate = Parameters.reliable(PerfTest.IB_WRITE_BW, SMALL_BYTES, room, ROUTE);
    double small = messageRate("write rate", rate.inLists(Math.min(SMALL_LIST, room)));
    Parameters throughput = Parameters.reliable(PerfTest.IB_WRITE_BW, messageBytes, room, ROUTE);
    double large = messageRate("write throughput", throughput);
    RoundTrips sends = roundTrips("ping-pong", PerfTest.IB_SEND_LAT);
    RoundTrips writes = roundTrips("write ping-pong", PerfTest.IB_WRITE_LAT);
    return new Speeds(small, large * messageBytes / 1e6, sends, writes);
  }

  /** RDMA WRITEs a second. */
  private double messageRate(String check, Parameters parameters) {
    CompilerRest rest = rest();
    do {
      double _ = messageRate(check, parameters, warmUp);
    } while (!isWarm(rest));
    double rate = messageRate(check, parameters, nanos);
    for (long time = LONGER * nanos; rate == 0 && time <= LONGEST * nanos; time *= LONGER) {
      rate = messageRate(check, parameters, time);
    }
    if (rate == 0) {
      throw new CheckFailedException(check, "no message was counted");
    }
    sides.held(check);
    return rate;
  }

  private double messageRate(String check, Parameters parameters, long time) {
    Parameters.Span span = Parameters.Span.of(Duration.ofNanos(time));
    BandwidthReport report = (BandwidthReport) measure(check, parameters.lasting(span));
    return report.messageRate() * 1e6;
  }

  private RoundTrips roundTrips(String check, PerfTest test) {
    Parameters parameters = Parameters.reliable(test, SMALL_BYTES, room, ROUTE);
    Histogram histogram = new Histogram(LONGEST_NANOS, 3);
    LatencyResult last = (LatencyResult) measure(check, parameters.of(LEAST));
    CompilerRest rest = rest();
    do {
      last = (LatencyResult) measure(check, parameters.of(count(warmUp, last)));
    } while (!isWarm(rest));
    long left = nanos;
    for (long count = count(left, last); count > 0; count = count(left - nanos / 8, last)) {
      last = (LatencyResult) measure(check, parameters.of(count));
      for (double half : last.samples()) {
        long taken = Math.round(half * ROUND_TRIP_NANOS);
        histogram.recordValue(Math.min(taken, LONGEST_NANOS));
        left -= taken;
      }
    }
    RoundTrips trips = sides.client().share(RoundTrips.MESSAGE, _ -> RoundTrips.of(histogram));
    sides.held(check);
    return trips;
  }

  private CompilerRest rest() {
    return new CompilerRest(System.nanoTime(), longestWarmUp);
  }

  /** Whether the compilers of both sides rest, or the time for it is over: the client decides. */
  private boolean isWarm(CompilerRest rest) {
    long server = sides.server().share(NUMBER, _ -> CompilerRest.worked());
    return sides
            .client()
            .share(
                NUMBER,
                _ -> rest.isOver(System.nanoTime(), server, CompilerRest.worked()) ? 1L : 0L)
        != 0;
  }

  /** How many round trips the client wants in a time: none when it is over. */
  private long count(long time, LatencyResult before) {
    double count = time / (before.typical() * ROUND_TRIP_NANOS);
    return sides
        .client()
        .share(NUMBER, _ -> time <= 0 ? 0L : Math.clamp((long) count, LEAST, MOST));
  }

  /** The last figure of the client; of round trips, at a server alone, its own. */
  private Figure measure(String check, Parameters parameters) {
    List<Figure> figures = new ArrayList<>();
    try {
      if (sides.server() instanceof Part.Local<Side>(_, _, Side server)
          && sides.client() instanceof Part.Local<Side>(_, _, Side client)) {
        BothSides both = BothSides.of(server.context(), client.context(), ROUTE);
        figures.addAll(both.run(parameters, Watcher.none()).figures());
      } else {
        PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
        for (Part<Side> part : List.of(sides.server(), sides.client())) {
          if (part instanceof Part.Local<Side>(String role, Rendezvous rendezvous, Side side)) {
            PerfSession session =
                new PerfSession(
                    parameters,
                    _ -> parameters,
                    Device.inLoop(side.context(), ROUTE),
                    nowhere,
                    nowhere,
                    figures::add,
                    Watcher.none());
            boolean _ = session.run(new RendezvousMedium(rendezvous), role.equals(Side.CLIENT));
          }
        }
      }
    } catch (PerfException e) {
      throw new CheckFailedException(check, e.getMessage());
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    if (figures.isEmpty() || Thread.currentThread().isInterrupted()) {
      throw new CheckFailedException(check, "the measurement was interrupted");
    }
    return figures.getLast();
  }
}
