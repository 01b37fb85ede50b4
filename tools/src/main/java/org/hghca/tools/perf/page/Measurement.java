package org.hghca.tools.perf.page;

import java.util.List;
import org.hghca.tools.perf.Figure;

/**
 * The results of one test.
 *
 * @param title such as {@code ib_write_bw, RC}
 * @param gigabits whether throughput is in Gb/s instead of MiB/s
 * @param figures its rows, all of one kind
 */
public record Measurement(String title, boolean gigabits, List<Figure> figures) {
  public Measurement {
    figures = List.copyOf(figures);
  }

  /** The unit of throughput. */
  String unit() {
    return gigabits ? "Gb/s" : "MiB/s";
  }
}
