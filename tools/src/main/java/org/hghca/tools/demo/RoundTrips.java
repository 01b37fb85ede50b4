package org.hghca.tools.demo;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import org.HdrHistogram.Histogram;

/**
 * Durations of round trips, in microseconds.
 *
 * @param count number of round trips
 * @param p50 half of them took no longer
 * @param p90 90 % took no longer
 * @param p99 99 % took no longer
 * @param p999 99.9 % took no longer
 * @param max the longest
 */
public record RoundTrips(long count, double p50, double p90, double p99, double p999, double max) {
  static final Message<RoundTrips> MESSAGE =
      new Message<>("round-trips", RoundTrips::toText, RoundTrips::parse);

  private static final double NANOS = 1000;

  /** Of a histogram of nanoseconds. */
  static RoundTrips of(Histogram histogram) {
    return new RoundTrips(
        histogram.getTotalCount(),
        histogram.getValueAtPercentile(50) / NANOS,
        histogram.getValueAtPercentile(90) / NANOS,
        histogram.getValueAtPercentile(99) / NANOS,
        histogram.getValueAtPercentile(99.9) / NANOS,
        histogram.getMaxValue() / NANOS);
  }

  /** The components, with spaces between them. */
  private String toText() {
    return DoubleStream.of(p50, p90, p99, p999, max)
        .mapToObj(Double::toString)
        .collect(Collectors.joining(" ", count + " ", ""));
  }

  private static RoundTrips parse(String text) {
    String[] parts = text.split(" ", -1);
    if (parts.length != 6) {
      throw new IllegalArgumentException("expected a count and five times");
    }
    return new RoundTrips(
        Long.parseLong(parts[0]),
        Double.parseDouble(parts[1]),
        Double.parseDouble(parts[2]),
        Double.parseDouble(parts[3]),
        Double.parseDouble(parts[4]),
        Double.parseDouble(parts[5]));
  }

  Map<String, Object> toJson() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("count", count);
    json.put("p50_us", p50);
    json.put("p90_us", p90);
    json.put("p99_us", p99);
    json.put("p99.9_us", p999);
    json.put("max_us", max);
    return json;
  }
}
