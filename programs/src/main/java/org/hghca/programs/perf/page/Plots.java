package org.hghca.programs.perf.page;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import org.hghca.programs.perf.result.BandwidthReport;
import org.hghca.programs.perf.result.Course;
import org.hghca.programs.perf.result.DurationLatency;
import org.hghca.programs.perf.result.Figure;
import org.hghca.programs.perf.result.LatencyResult;

/** Which plots a measurement has: by size, over time, by percentile; none for a single row. */
final class Plots {
  private static final double MILLION = 1e6;

  /** Points of a line by percentile. */
  private static final int STEPS = 200;

  private Plots() {}

  static List<Plot> of(Measurement measurement) {
    List<BandwidthReport> rates = only(measurement, BandwidthReport.class);
    List<LatencyResult> latencies = only(measurement, LatencyResult.class);
    List<Plot> plots = new ArrayList<>();
    if (rates.size() > 1) {
      boolean one = rates.stream().map(Figure::size).distinct().count() == 1;
      plots.addAll(one ? List.of(overTime(measurement, rates)) : bySize(measurement, rates));
    }
    boolean courses = measurement.courses().stream().anyMatch(each -> each.seconds().length > 1);
    if (courses) {
      plots.add(courses(measurement));
    }
    if (latencies.stream().map(Figure::size).distinct().count() > 1) {
      plots.add(latencyBySize(latencies));
    }
    if (!latencies.isEmpty()) {
      plots.add(byPercentile(latencies));
    }
    List<DurationLatency> averages = only(measurement, DurationLatency.class);
    if (averages.stream().map(Figure::size).distinct().count() > 1) {
      plots.add(
          plot(
              "Latency by size",
              Axis.sizes(column(averages, Figure::size)),
              "µs",
              new Plot.Line(
                  "average",
                  column(averages, Figure::size),
                  column(averages, DurationLatency::average))));
    }
    return plots;
  }

  /** All measurements beside each other, by size; none of those that have fewer than two sizes. */
  static List<Plot> overview(List<Measurement> measurements) {
    List<Plot.Line> rates = new ArrayList<>();
    List<Plot.Line> medians = new ArrayList<>();
    for (Measurement each : measurements) {
      List<BandwidthReport> throughput = only(each, BandwidthReport.class);
      List<LatencyResult> latency = only(each, LatencyResult.class);
      if (throughput.size() > 1) {
        rates.add(line(each, throughput, BandwidthReport::average));
      }
      if (latency.size() > 1) {
        medians.add(line(each, latency, LatencyResult::typical));
      }
    }
    List<Plot> plots = new ArrayList<>();
    String unit = measurements.getFirst().unit();
    together("Throughput by size", unit, rates).ifPresent(plots::add);
    together("Median latency by size", "µs", medians).ifPresent(plots::add);
    return plots;
  }

  private static <T extends Figure> Plot.Line line(
      Measurement measurement, List<T> rows, ToDoubleFunction<T> value) {
    String name = measurement.title().replaceFirst("^ib_", "").replaceFirst("_\\w+, ", " ");
    return new Plot.Line(name, column(rows, Figure::size), column(rows, value));
  }

  private static Optional<Plot> together(String caption, String unit, List<Plot.Line> lines) {
    List<Plot.Line> shown = lines.subList(0, Math.min(lines.size(), Plot.MOST_LINES));
    double[] sizes = shown.stream().flatMapToDouble(each -> Arrays.stream(each.xs())).toArray();
    return shown.isEmpty()
        ? Optional.empty()
        : Optional.of(new Plot(caption, Axis.sizes(sizes), unit, shown));
  }

  private static <T extends Figure> List<T> only(Measurement measurement, Class<T> kind) {
    return measurement.figures().stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  private static <T> double[] column(List<T> rows, ToDoubleFunction<T> value) {
    return rows.stream().mapToDouble(value).toArray();
  }

  private static Plot plot(String caption, Axis across, String title, Plot.Line... lines) {
    return new Plot(caption, across, title, List.of(lines));
  }

  private static List<Plot> bySize(Measurement measurement, List<BandwidthReport> rates) {
    double[] sizes = column(rates, Figure::size);
    Axis across = Axis.sizes(sizes);
    List<Plot.Line> lines = new ArrayList<>();
    lines.add(new Plot.Line("average", sizes, column(rates, BandwidthReport::average)));
    if (rates.stream().allMatch(rate -> rate.peak() > 0)) {
      lines.add(new Plot.Line("peak", sizes, column(rates, BandwidthReport::peak)));
    }
    return List.of(
        new Plot("Throughput by size", across, measurement.unit(), lines),
        plot(
            "Messages by size",
            across,
            "millions a second",
            new Plot.Line("messages", sizes, column(rates, BandwidthReport::messageRate))));
  }

  /**
   * Each row began when the one before ended, and its messages and their rate say how long it was.
   */
  private static Plot overTime(Measurement measurement, List<BandwidthReport> rates) {
    double[] ends = column(rates, rate -> rate.iterations() / (rate.messageRate() * MILLION));
    Arrays.parallelPrefix(ends, Double::sum);
    return plot(
        "Throughput over time",
        Axis.span("seconds", ends),
        measurement.unit(),
        new Plot.Line("average", ends, column(rates, BandwidthReport::average)));
  }

  /** The rate of each size over its time; of latencies by time their number a second. */
  private static Plot courses(Measurement measurement) {
    boolean throughput = measurement.figures().getFirst() instanceof BandwidthReport;
    List<Plot.Line> lines = new ArrayList<>();
    for (Course course : some(measurement.courses())) {
      double factor = throughput ? course.size() / measurement.unitBytes() : 1;
      double[] rates = Arrays.stream(course.perSecond()).map(rate -> rate * factor).toArray();
      lines.add(new Plot.Line(bytes(course.size()), course.seconds(), rates));
    }
    double[] seconds = lines.stream().flatMapToDouble(each -> Arrays.stream(each.xs())).toArray();
    return new Plot(
        throughput ? "Throughput over time" : "Transactions over time",
        Axis.span("seconds", seconds),
        throughput ? measurement.unit() : "transactions/s",
        lines);
  }

  /** At most as many as a plot has lines, from the first to the last. */
  private static <T> List<T> some(List<T> all) {
    int shown = Math.min(all.size(), Plot.MOST_LINES);
    List<T> some = new ArrayList<>();
    for (int i = 0; i < shown; i++) {
      some.add(all.get(shown == 1 ? 0 : i * (all.size() - 1) / (shown - 1)));
    }
    return some;
  }

  private static Plot latencyBySize(List<LatencyResult> rows) {
    double[] sizes = column(rows, Figure::size);
    return plot(
        "Latency by size",
        Axis.sizes(sizes),
        "µs",
        new Plot.Line("99 %", sizes, column(rows, LatencyResult::p99)),
        new Plot.Line("median", sizes, column(rows, LatencyResult::typical)),
        new Plot.Line("minimum", sizes, column(rows, LatencyResult::min)));
  }

  /** All samples; of many sizes some, from the smallest to the largest. */
  private static Plot byPercentile(List<LatencyResult> rows) {
    List<LatencyResult> some = some(rows);
    int most = some.stream().mapToInt(row -> row.samples().length).max().orElse(0);
    Axis across = Axis.percentiles(most);
    List<Plot.Line> lines = some.stream().map(Plots::distribution).toList();
    return new Plot("Distribution of latencies", across, "µs", lines);
  }

  private static Plot.Line distribution(LatencyResult row) {
    double[] sorted = row.samples().clone();
    Arrays.sort(sorted);
    double last = Math.log(sorted.length);
    double[] shares = new double[STEPS + 1];
    double[] micros = new double[STEPS + 1];
    for (int i = 0; i <= STEPS; i++) {
      shares[i] = -Math.expm1(-last * i / STEPS);
      int rank = (int) Math.floor(shares[i] * sorted.length + 1e-9);
      micros[i] = sorted[Math.min(rank, sorted.length - 1)];
    }
    return new Plot.Line(bytes(row.size()), shares, micros);
  }

  /** Such as {@code 4 KiB}. */
  private static String bytes(long size) {
    return Axis.size(size).replaceFirst("\\D*$", " $0B");
  }
}
