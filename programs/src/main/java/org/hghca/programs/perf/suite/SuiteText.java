package org.hghca.programs.perf.suite;

import java.io.PrintWriter;
import org.hghca.programs.perf.result.BandwidthReport;
import org.hghca.programs.perf.result.Columns;
import org.hghca.programs.perf.result.DurationLatency;
import org.hghca.programs.perf.result.Figure;
import org.hghca.programs.perf.result.LatencyResult;

/** Prints rows as they come, with the columns of perftest. Not thread-safe. */
public final class SuiteText {
  private final PrintWriter out;
  private String test = "";

  public SuiteText(PrintWriter out) {
    this.out = out;
  }

  /** Prints a row, and before the first one of a test its title and columns. */
  public void print(Row row) {
    boolean gigabits = row.asked().report().gigabits();
    if (!row.test().equals(test)) {
      test = row.test();
      out.println(Columns.LINE);
      out.println(" ".repeat(20) + "%s, %s".formatted(row.asked().title(), test));
      out.println(row.asked().test().isBandwidth() ? Columns.bandwidth(gigabits) : Columns.LATENCY);
    }
    out.println(
        switch (row) {
          case Row.Measured measured -> text(measured.figure(), gigabits);
          case Row.Failed failed -> " " + failed.remark();
          case Row.Unsupported lacking -> " " + lacking.remark();
        });
    out.flush();
  }

  private static String text(Figure figure, boolean gigabits) {
    return switch (figure) {
      case BandwidthReport report -> Columns.row(report, gigabits);
      case LatencyResult result -> Columns.row(result);
      case DurationLatency result -> Columns.row(result);
    };
  }

  /** Prints how many rows there were of each kind. */
  public void end(SuiteReport report, double seconds) {
    out.println(Columns.LINE);
    out.println(
        "%d rows measured, %d failed, %d not supported by the device, %.0f s"
            .formatted(
                count(report, Row.Measured.class),
                count(report, Row.Failed.class),
                count(report, Row.Unsupported.class),
                seconds));
    out.flush();
  }

  private static long count(SuiteReport report, Class<? extends Row> kind) {
    return report.rows().stream().filter(kind::isInstance).count();
  }
}
