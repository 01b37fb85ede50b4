package org.hghca.programs.perf.result;

import java.util.LinkedHashMap;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** The distribution of latencies, to three digits. */
public final class Percentiles {
  private static final double NANOS = 1000;
  private static final double[] SHOWN = {50, 75, 90, 99, 99.9, 99.99, 99.999, 100};

  private final Histogram histogram = new Histogram(3);

  private Percentiles() {}

  /** Of samples in microseconds, none of them cut off. */
  public static Percentiles of(double[] samples) {
    Percentiles percentiles = new Percentiles();
    for (double sample : samples) {
      percentiles.histogram.recordValue(Math.max(0, Math.round(sample * NANOS)));
    }
    return percentiles;
  }

  /** Microseconds that a part of the samples do not exceed. */
  double at(double percentile) {
    return histogram.getValueAtPercentile(percentile) / NANOS;
  }

  /** Microseconds by percentile. */
  public Map<String, Object> toJson() {
    Map<String, Object> json = new LinkedHashMap<>();
    for (double percentile : SHOWN) {
      json.put(Columns.general(percentile), at(percentile));
    }
    return json;
  }
}
