package org.hghca.tools.perf.peers;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The rows of a table in every form.
 *
 * @param facts about the machine, by name
 * @param rows in their order
 */
record PeersReport(Map<String, String> facts, Table table, List<PeerRow> rows) {
  private static final String NONE = "-";
  private static final String NAME = "%-46s";
  private static final int GAP = 3;
  private static final int KIBIBYTE = 1 << 10;
  private static final double FEW = 10;
  private static final double SOME = 100;

  /** A column; NaN stands for what a row does not have. */
  private record Column(String name, String unit, ToDoubleFunction<PeerRow.Measured> value) {
    String figure(PeerRow.Measured row) {
      double is = value.applyAsDouble(row);
      return Double.isNaN(is)
          ? NONE
          : (is < FEW ? "%.2f" : is < SOME ? "%.1f" : "%,.0f").formatted(is);
    }
  }

  private List<Column> columns() {
    List<Column> columns = new ArrayList<>();
    columns.add(new Column("round trip p50", "us", PeerRow.Measured::p50));
    columns.add(new Column("p99", "us", PeerRow.Measured::p99));
    if (table == Table.SOCKETS) {
      columns.add(new Column("round trips", "/s", PeerRow.Measured::rate));
    }
    List<Integer> streams = table.work().streams();
    for (int i = 0; i < streams.size(); i++) {
      int place = i;
      columns.add(
          new Column(
              size(streams.get(i)),
              "MB/s",
              row -> place < row.megabytes().size() ? row.megabytes().get(place) : Double.NaN));
    }
    columns.add(new Column("processor a message", "us", PeerRow.Measured::processor));
    return columns;
  }

  private static String size(int bytes) {
    int kibibytes = bytes / KIBIBYTE;
    return kibibytes < KIBIBYTE ? kibibytes + " KiB" : kibibytes / KIBIBYTE + " MiB";
  }

  /** Whether no row failed. */
  boolean isGood() {
    return rows.stream().noneMatch(row -> row instanceof PeerRow.Unmeasured not && not.failed());
  }

  /** As JSON: facts, sizes and rows. */
  Map<String, Object> toJson() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("facts", facts);
    json.put("round_trip_bytes", table.work().size());
    json.put("stream_bytes", table.work().streams());
    json.put("rows", rows.stream().map(PeerRow::toJson).toList());
    return json;
  }

  /** A line for each row, below the names of the columns. */
  String text() {
    List<String> names =
        columns().stream().map(column -> "%s[%s]".formatted(column.name, column.unit)).toList();
    return Stream.concat(
            Stream.of(NAME.formatted("row") + line(names, names)),
            rows.stream().map(row -> NAME.formatted(row.name()) + line(row, names)))
        .collect(Collectors.joining("\n"));
  }

  private String line(PeerRow row, List<String> names) {
    return switch (row) {
      case PeerRow.Measured is -> {
        List<String> figures = columns().stream().map(column -> column.figure(is)).toList();
        yield line(figures, names) + (is.rested() ? "" : "   its compilers still worked");
      }
      case PeerRow.Unmeasured not -> "   not measured: " + not.why();
    };
  }

  private static String line(List<String> cells, List<String> names) {
    return IntStream.range(0, cells.size())
        .mapToObj(i -> ("%" + (GAP + names.get(i).length()) + "s").formatted(cells.get(i)))
        .collect(Collectors.joining());
  }

  /** A table. */
  String markdown() {
    List<Column> columns = columns();
    String header = columns.stream().map(Column::name).collect(Collectors.joining(" | "));
    return Stream.concat(
            Stream.of("| | " + header + " |", "|---" + "|---:".repeat(columns.size()) + "|"),
            rows.stream().map(row -> tableRow(row, columns)))
        .collect(Collectors.joining("\n"));
  }

  private static String tableRow(PeerRow row, List<Column> columns) {
    String cells =
        switch (row) {
          case PeerRow.Measured is ->
              columns.stream().map(column -> cell(column, is)).collect(Collectors.joining(" | "));
          case PeerRow.Unmeasured not ->
              not.why().replace("|", "\\|") + " | ".repeat(columns.size() - 1);
        };
    return "| %s | %s |".formatted(row.name(), cells);
  }

  private static String cell(Column column, PeerRow.Measured row) {
    String figure = column.figure(row);
    return figure.equals(NONE) ? NONE : "%s %s".formatted(figure, column.unit);
  }
}
