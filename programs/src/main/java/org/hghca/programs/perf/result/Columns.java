package org.hghca.programs.perf.result;

import java.math.BigDecimal;
import java.math.MathContext;

/** The columns and rows of results, as perftest prints them. */
public final class Columns {
  /** The line between the blocks. */
  public static final String LINE = "-".repeat(87);

  /** Above the rows of {@link LatencyResult}. */
  public static final String LATENCY =
      " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]"
          + "    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] ";

  /** Above the rows of {@link DurationLatency}. */
  public static final String LATENCY_BY_TIME =
      " #bytes        #iterations       t_avg[usec]    tps average";

  private Columns() {}

  /** Above the rows of {@link BandwidthReport}. */
  public static String bandwidth(boolean gigabits) {
    String unit = gigabits ? "Gb/sec" : "MiB/sec";
    return " #bytes     #iterations    BW peak[%s]    BW average[%s]   MsgRate[Mpps]"
        .formatted(unit, unit);
  }

  /** A row in its unit. */
  public static String row(BandwidthReport r, boolean gigabits) {
    String format =
        r.digits(gigabits) > 2
            ? " %-7d    %d           %-7.6f            %-7.6f            %-7.6f"
            : " %-7d    %-10d       %-7.2f            %-7.2f\t\t     %-7.6f";
    return format.formatted(r.size(), r.iterations(), r.peak(), r.average(), r.messageRate());
  }

  /** A row. */
  public static String row(LatencyResult r) {
    return " %-7d %d          %-7.2f        %-7.2f      %-7.2f  \t       %-7.2f     \t%-7.2f\t\t%-7.2f \t\t%-7.2f"
        .formatted(
            r.size(),
            r.iterations(),
            r.min(),
            r.max(),
            r.typical(),
            r.average(),
            r.deviation(),
            r.p99(),
            r.p999());
  }

  /** As {@code %g} of C: six significant digits, without zeros at the end. */
  public static String general(double value) {
    BigDecimal rounded = new BigDecimal(value).round(new MathContext(6));
    return rounded.signum() == 0 ? "0" : rounded.stripTrailingZeros().toPlainString();
  }

  /** A row. */
  public static String row(DurationLatency r) {
    return " %-7d       %d            %-7.2f        %-7.2f"
        .formatted(r.size(), r.iterations(), r.average(), r.perSecond());
  }
}
