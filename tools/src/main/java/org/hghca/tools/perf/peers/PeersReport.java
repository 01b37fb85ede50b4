package org.hghca.tools.perf.peers;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The rows in every form.
 *
 * @param facts about the machine, by name
 * @param rows in their order
 */
record PeersReport(Map<String, String> facts, List<PeerRow> rows) {
  private static final List<String> COLUMNS =
      List.of("round trip p50", "p99", "64 KiB", "1 MiB", "processor a message");

  private static final List<String> UNITS = List.of("us", "us", "MB/s", "MB/s", "us");
  private static final String NONE = "-";
  private static final String NAME = "%-46s";
  private static final int GAP = 3;
  private static final double FEW = 10;
  private static final double SOME = 100;

  /** Whether no row failed. */
  boolean isGood() {
    return rows.stream().noneMatch(row -> row instanceof PeerRow.Unmeasured not && not.failed());
  }

  /** As JSON: facts, sizes and rows. */
  Map<String, Object> toJson() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("facts", facts);
    json.put("round_trip_bytes", Task.SMALL);
    json.put("stream_bytes", Task.STREAMS);
    json.put("rows", rows.stream().map(PeerRow::toJson).toList());
    return json;
  }

  /** A line for each row, below the names of the columns. */
  String text() {
    List<String> names =
        IntStream.range(0, COLUMNS.size())
            .mapToObj(i -> COLUMNS.get(i) + "[" + UNITS.get(i) + "]")
            .toList();
    return Stream.concat(
            Stream.of(NAME.formatted("row") + line(names, names)),
            rows.stream().map(row -> NAME.formatted(row.name()) + line(row, names)))
        .collect(Collectors.joining("\n"));
  }

  private static String line(PeerRow row, List<String> names) {
    return switch (row) {
      case PeerRow.Measured is ->
          line(figures(is), names) + (is.rested() ? "" : "   its compilers still worked");
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
    String header = String.join(" | ", COLUMNS);
    return Stream.concat(
            Stream.of("| | " + header + " |", "|---" + "|---:".repeat(COLUMNS.size()) + "|"),
            rows.stream().map(PeersReport::tableRow))
        .collect(Collectors.joining("\n"));
  }

  private static String tableRow(PeerRow row) {
    List<String> cells =
        switch (row) {
          case PeerRow.Measured is -> {
            List<String> figures = figures(is);
            yield IntStream.range(0, figures.size())
                .mapToObj(i -> cell(figures.get(i), UNITS.get(i)))
                .toList();
          }
          case PeerRow.Unmeasured not -> List.of(not.why().replace("|", "\\|"), "", "", "", "");
        };
    return "| %s | %s |".formatted(row.name(), String.join(" | ", cells));
  }

  private static String cell(String figure, String unit) {
    return figure.equals(NONE) ? NONE : figure + " " + unit;
  }

  /** One for each column. */
  private static List<String> figures(PeerRow.Measured row) {
    Stream<String> streams =
        row.megabytes().isEmpty()
            ? Task.STREAMS.stream().map(_ -> NONE)
            : row.megabytes().stream().map(PeersReport::figure);
    return Stream.of(
            Stream.of(row.p50(), row.p99()).map(PeersReport::figure),
            streams,
            Stream.of(figure(row.processor())))
        .flatMap(part -> part)
        .toList();
  }

  private static String figure(double value) {
    return (value < FEW ? "%.2f" : value < SOME ? "%.1f" : "%,.0f").formatted(value);
  }
}
