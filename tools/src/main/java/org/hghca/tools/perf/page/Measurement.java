package org.hghca.tools.perf.page;

import java.util.List;
import org.hghca.tools.perf.Figure;

/**
 * The results of one test.
 *
 * @param title such as {@code ib_write_bw, RC}
 * @param gigabits whether throughput is in Gb/s instead of MiB/s
 * @param figures its rows, all of one kind
 * @param remarks about rows that are missing
 */
public record Measurement(
    String title, boolean gigabits, List<Figure> figures, List<String> remarks) {
  public Measurement {
    figures = List.copyOf(figures);
    remarks = List.copyOf(remarks);
  }

  /** The unit of throughput. */
  String unit() {
    return gigabits ? "Gb/s" : "MiB/s";
  }
}
