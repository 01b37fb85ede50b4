package org.hghca.programs.perf.page;

import java.util.List;
import org.hghca.programs.perf.result.BandwidthResult;
import org.hghca.programs.perf.result.Course;
import org.hghca.programs.perf.result.Figure;

/**
 * The results of one test.
 *
 * @param title such as {@code ib_write_bw, RC}
 * @param gigabits whether throughput is in Gb/s instead of MiB/s
 * @param figures its rows, all of one kind
 * @param courses rates over the time, of measurements by time
 * @param remarks about rows that are missing
 */
public record Measurement(
    String title,
    boolean gigabits,
    List<Figure> figures,
    List<Course> courses,
    List<String> remarks) {
  public Measurement {
    figures = List.copyOf(figures);
    courses = List.copyOf(courses);
    remarks = List.copyOf(remarks);
  }

  /** The unit of throughput. */
  String unit() {
    return gigabits ? "Gb/s" : "MiB/s";
  }

  /** Bytes of the same. */
  double unitBytes() {
    return BandwidthResult.unit(gigabits);
  }
}
