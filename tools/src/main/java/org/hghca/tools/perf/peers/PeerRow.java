package org.hghca.tools.perf.peers;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What became of a row. */
sealed interface PeerRow {
  /** The name of the row. */
  String name();

  /**
   * It was measured.
   *
   * @param p50 the median of round trips, in microseconds
   * @param p99 99 % of the round trips took no longer, in microseconds
   * @param rate round trips a second
   * @param megabytes a second, of 10^6 bytes, of each stream; empty without streams
   * @param processor microseconds for a message of a round trip, of both processes together
   * @param rested whether the compilers rested before each measurement
   */
  record Measured(
      String name,
      double p50,
      double p99,
      double rate,
      List<Double> megabytes,
      double processor,
      boolean rested)
      implements PeerRow {}

  /**
   * It was not.
   *
   * @param failed whether it should have been; otherwise this machine has no means for it
   */
  record Unmeasured(String name, String why, boolean failed) implements PeerRow {}

  /** As an object of JSON. */
  default Map<String, Object> toJson() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", name());
    switch (this) {
      case Measured row -> {
        json.put("round_trip_p50_us", row.p50);
        json.put("round_trip_p99_us", row.p99);
        json.put("round_trips_per_second", row.rate);
        json.put("stream_MB_per_second", row.megabytes);
        json.put("processor_us_per_message", row.processor);
        json.put("compilers_rested", row.rested);
      }
      case Unmeasured row -> {
        json.put("reason", row.why);
        json.put("failed", row.failed);
      }
    }
    return json;
  }

  /** The row of such an object. */
  static PeerRow of(Map<String, Object> json) {
    String name = (String) json.get("name");
    if (json.containsKey("reason")) {
      return new Unmeasured(name, (String) json.get("reason"), (Boolean) json.get("failed"));
    }
    return new Measured(
        name,
        number(json.get("round_trip_p50_us")),
        number(json.get("round_trip_p99_us")),
        number(json.get("round_trips_per_second")),
        ((List<?>) json.get("stream_MB_per_second")).stream().map(PeerRow::number).toList(),
        number(json.get("processor_us_per_message")),
        (Boolean) json.get("compilers_rested"));
  }

  private static double number(Object value) {
    return ((Number) value).doubleValue();
  }

  /** Why something failed. */
  static String why(Exception e) {
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }
}
