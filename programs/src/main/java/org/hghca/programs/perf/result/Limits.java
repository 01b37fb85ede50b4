package org.hghca.programs.perf.result;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/**
 * What every row of results must reach. Without any limit everything is enough.
 *
 * @param bandwidth MiB/s or Gb/s at least
 * @param messageRate millions of messages a second at least
 * @param latency microseconds at most
 * @param percentile of the latencies that must not exceed it
 */
public record Limits(
    OptionalDouble bandwidth,
    OptionalDouble messageRate,
    OptionalDouble latency,
    double percentile) {
  /** No limit. */
  public static final Limits NONE =
      new Limits(OptionalDouble.empty(), OptionalDouble.empty(), OptionalDouble.empty(), 50);

  /** What a row misses. */
  public List<String> missedBy(Figure figure) {
    return switch (figure) {
      case BandwidthReport report -> missedThroughput(report);
      case LatencyResult result ->
          missedLatency(
              result.size(),
              "p%s".formatted(Columns.general(percentile)),
              Percentiles.of(result.samples()).at(percentile));
      case DurationLatency result -> missedLatency(result.size(), "average", result.average());
    };
  }

  private List<String> missedThroughput(BandwidthReport report) {
    List<String> missed = new ArrayList<>();
    if (report.average() < bandwidth.orElse(0)) {
      missed.add(
          "%d bytes: throughput %.2f is below %.2f"
              .formatted(report.size(), report.average(), bandwidth.getAsDouble()));
    }
    if (report.messageRate() < messageRate.orElse(0)) {
      missed.add(
          "%d bytes: message rate %.6f is below %.6f"
              .formatted(report.size(), report.messageRate(), messageRate.getAsDouble()));
    }
    return missed;
  }

  private List<String> missedLatency(long size, String which, double value) {
    return value <= latency.orElse(Double.MAX_VALUE)
        ? List.of()
        : List.of(
            "%d bytes: latency %s %.2f us is above %.2f us"
                .formatted(size, which, value, latency.getAsDouble()));
  }
}
