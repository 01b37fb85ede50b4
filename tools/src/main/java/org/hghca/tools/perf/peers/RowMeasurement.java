package org.hghca.tools.perf.peers;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.hghca.tools.perf.CompilerRest;

/** Measures a row from its client, when the compilers of both sides rest. Not thread-safe. */
final class RowMeasurement {
  /** How many times as long as a measurement its warming up takes at most. */
  static final int WARM_UP = 4;

  private static final Duration PART = Duration.ofMillis(400);
  private static final int LEAST = 64;
  private static final int MOST = 1 << 20;
  private static final int TRIP = 2;
  private static final double NANOS = 1e9;
  private static final double MICRO = 1e3;
  private static final double MEGA = 1e6;

  private final Row row;
  private final End end;
  private final Partner partner;
  private final Duration whole;
  private boolean rested = true;

  /**
   * Nothing is measured yet.
   *
   * @param end the client's
   * @param whole how long all measurements take, after warming up
   */
  RowMeasurement(Row row, End end, Partner partner, Duration whole) {
    this.row = row;
    this.end = end;
    this.partner = partner;
    this.whole = whole;
  }

  /** A task that both ends have carried out. */
  private record Done(Task task, Outcome own, Report other) {
    /** The same task with as many messages as take a time. */
    Task lasting(Duration time) {
      double count = own.rate() * time.toNanos() / NANOS;
      return new Task(task.kind(), task.size(), (int) Math.clamp(count, LEAST, MOST));
    }

    double micros() {
      return (own.processor() + other.processor()) / MICRO / (TRIP * task.count());
    }
  }

  /** Measures: round trips for two thirds of the time, and streams. */
  PeerRow.Measured run() throws IOException, InterruptedException {
    Done trips =
        measure(Task.Kind.ROUND_TRIPS, row.work().size(), whole.multipliedBy(2).dividedBy(3));
    List<Double> megabytes = new ArrayList<>();
    if (end.hasStreams()) {
      List<Integer> sizes = row.work().streams();
      for (int size : sizes) {
        Done stream = measure(Task.Kind.STREAM, size, whole.dividedBy(3L * sizes.size()));
        megabytes.add(stream.own.rate() * size / MEGA);
      }
    }
    return new PeerRow.Measured(
        row.name(),
        trips.own.p50(),
        trips.own.p99(),
        trips.own.rate(),
        megabytes,
        trips.micros(),
        rested);
  }

  private Done measure(Task.Kind kind, int size, Duration time)
      throws IOException, InterruptedException {
    Duration part = time.compareTo(PART) < 0 ? time : PART;
    CompilerRest rest = new CompilerRest(System.nanoTime(), time.multipliedBy(WARM_UP));
    Done done = carryOut(new Task(kind, size, LEAST));
    while (!rest.isOver(System.nanoTime(), CompilerRest.worked(), done.other.compilers())) {
      done = carryOut(done.lasting(part));
    }
    rested &= rest.rested();
    return carryOut(done.lasting(time));
  }

  private Done carryOut(Task task) throws IOException, InterruptedException {
    partner.begin(task);
    Outcome own = end.run(task);
    return new Done(task, own, partner.report());
  }
}
