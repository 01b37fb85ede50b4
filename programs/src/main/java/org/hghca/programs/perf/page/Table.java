package org.hghca.programs.perf.page;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.hghca.programs.perf.result.BandwidthReport;
import org.hghca.programs.perf.result.DurationLatency;
import org.hghca.programs.perf.result.Figure;
import org.hghca.programs.perf.result.LatencyResult;

/** The rows of a measurement, with the columns and digits of perftest. */
final class Table {
  private Table() {}

  static void write(Markup page, Measurement measurement) {
    page.open("div", "class", "scroll").open("table").open("thead").open("tr");
    columns(measurement).forEach(name -> page.element("th", name, "scope", "col"));
    page.close().close().open("tbody");
    for (Figure figure : measurement.figures()) {
      page.open("tr");
      cells(figure, measurement.gigabits()).forEach(cell -> page.element("td", cell));
      page.close();
    }
    page.close().close().close();
  }

  private static List<String> columns(Measurement measurement) {
    List<String> columns = new ArrayList<>(List.of("bytes", "iterations"));
    String unit = measurement.unit();
    columns.addAll(
        switch (measurement.figures().getFirst()) {
          case BandwidthReport _ -> List.of("peak, " + unit, "average, " + unit, "millions/s");
          case LatencyResult _ ->
              List.of(
                  "min, µs",
                  "max, µs",
                  "typical, µs",
                  "average, µs",
                  "deviation, µs",
                  "99 %, µs",
                  "99.9 %, µs");
          case DurationLatency _ -> List.of("average, µs", "transactions/s");
        });
    return columns;
  }

  private static List<String> cells(Figure figure, boolean gigabits) {
    List<String> cells = new ArrayList<>();
    cells.add(Long.toString(figure.size()));
    cells.add(Long.toString(figure.iterations()));
    switch (figure) {
      case BandwidthReport r -> {
        int digits = r.digits(gigabits);
        cells.add(r.peak() > 0 ? number(r.peak(), digits) : "–");
        cells.add(number(r.average(), digits));
        cells.add(number(r.messageRate(), 6));
      }
      case LatencyResult r -> {
        for (double micros :
            new double[] {
              r.min(), r.max(), r.typical(), r.average(), r.deviation(), r.p99(), r.p999()
            }) {
          cells.add(number(micros, 2));
        }
      }
      case DurationLatency r -> {
        cells.add(number(r.average(), 2));
        cells.add(number(r.perSecond(), 2));
      }
    }
    return cells;
  }

  private static String number(double value, int digits) {
    return String.format(Locale.ROOT, "%." + digits + "f", value);
  }
}
