package org.hghca.tools.perf.peers;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** One size over one peer, round after round. Not thread-safe. */
final class Cell {
  private static final int LEAST = 16;
  private static final int MOST_FLOW = 1 << 26;
  private static final int MOST_TRIPS = 1 << 18;
  private static final int GROWTH = 4;
  private static final double NANOS = 1e9;
  private static final double MEGA = 1e6;
  private static final double TRIP = 2e3;

  private final Entrant entrant;
  private final Peer peer;
  private final int size;
  private final List<Double> megabytes = new ArrayList<>();
  private final List<Double> micros = new ArrayList<>();
  private final List<Double> allocated = new ArrayList<>();
  private int flow;
  private int trips;
  private String why = "no time for it";
  private boolean failed;

  Cell(Entrant entrant, Peer peer, int size) {
    this.entrant = entrant;
    this.peer = peer;
    this.size = size;
  }

  /** A number of messages, and how long they took. */
  private interface Measurement {
    double nanos(int count) throws IOException, InterruptedException;
  }

  /** Warms up, and finds how many messages take a time. */
  void calibrate(Duration each) throws InterruptedException {
    if (!peer.refusal(size).isEmpty()) {
      why = peer.refusal(size);
      return;
    }
    attempt(
        () -> {
          flow = count(each, MOST_FLOW, count -> peer.send(size, count).nanos());
          trips = count(each, MOST_TRIPS, count -> peer.pingPong(size, count) * TRIP * count);
        });
  }

  private static int count(Duration each, int most, Measurement measurement)
      throws IOException, InterruptedException {
    long start = System.nanoTime();
    int count = LEAST;
    while (true) {
      double nanos = measurement.nanos(count);
      if (System.nanoTime() - start >= each.toNanos() || count >= most) {
        return (int) Math.clamp(count * each.toNanos() / Math.max(1, nanos), LEAST, most);
      }
      count *= GROWTH;
    }
  }

  /** Measures once more, unless it cannot be. */
  void measure() throws InterruptedException {
    if (trips == 0 || failed) {
      return;
    }
    attempt(
        () -> {
          Peer.Flow sent = peer.send(size, flow);
          double trip = peer.pingPong(size, trips);
          megabytes.add((double) size * sent.messages() * NANOS / sent.nanos() / MEGA);
          allocated.add(sent.allocated());
          micros.add(trip);
        });
  }

  private void attempt(TwoThreads.End measurement) throws InterruptedException {
    try {
      measurement.run();
    } catch (IOException | RuntimeException e) {
      failed = true;
      why = PeerRun.why(e);
    }
  }

  /** The medians of the rounds so far. */
  PeerRow row() {
    if (failed || megabytes.isEmpty()) {
      return new PeerRow.Unmeasured(entrant.name(), size, why, failed);
    }
    return new PeerRow.Measured(
        entrant.name(), size, median(megabytes), median(micros), median(allocated));
  }

  private static double median(List<Double> figures) {
    return figures.stream().sorted().toList().get(figures.size() / 2);
  }

  /** The peer and the size. */
  @Override
  public String toString() {
    return "%s, %d bytes".formatted(entrant.name(), size);
  }
}
