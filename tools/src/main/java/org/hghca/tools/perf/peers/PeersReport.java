package org.hghca.tools.perf.peers;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The rows in every form.
 *
 * @param facts about the machine, by name
 * @param rows of each size those of all peers
 */
public record PeersReport(Map<String, String> facts, List<PeerRow> rows) {
  private static final int KIB = 10;
  private static final int MIB = 20;
  private static final double FEW = 10;
  private static final double SOME = 100;
  private static final double NOTHING = 0.05;

  /** Whether no row failed. */
  public boolean isGood() {
    return rows.stream().noneMatch(row -> row instanceof PeerRow.Unmeasured not && not.failed());
  }

  /** As JSON: facts and rows. */
  public Map<String, Object> toJson() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("facts", facts);
    json.put("rounds", PeerRun.ROUNDS);
    json.put("rows", rows.stream().map(PeerRow::toJson).toList());
    return json;
  }

  /** A line for each row, below the names of the columns. */
  public String text() {
    StringBuilder text =
        new StringBuilder(
            "%-24s%9s%14s%22s%26s"
                .formatted(
                    "peer", "#bytes", "MB/s", "ping-pong p50[usec]", "allocated[bytes/message]"));
    for (PeerRow row : rows) {
      text.append("\n%-24s%9d".formatted(row.peer(), row.size()));
      text.append(
          switch (row) {
            case PeerRow.Measured is ->
                "%14s%22s%26s"
                    .formatted(figure(is.megabytes()), figure(is.micros()), bytes(is.allocated()));
            case PeerRow.Unmeasured not -> "    not measured: " + not.why();
          });
    }
    return text.toString();
  }

  /** A table with a row for each peer and a column for each size. */
  public String markdown() {
    List<Integer> sizes = rows.stream().map(PeerRow::size).distinct().toList();
    StringBuilder text = new StringBuilder("| |");
    sizes.forEach(size -> text.append(" %s |".formatted(name(size))));
    text.append("\n|---|").append("---|".repeat(sizes.size()));
    for (String peer :
        rows.stream().map(PeerRow::peer).collect(Collectors.toCollection(LinkedHashSet::new))) {
      text.append("\n| %s |".formatted(peer));
      rows.stream()
          .filter(row -> row.peer().equals(peer))
          .forEach(row -> text.append(" %s |".formatted(cell(row))));
    }
    return text.toString();
  }

  private static String cell(PeerRow row) {
    return switch (row) {
      case PeerRow.Measured is ->
          "%s MB/s, %s us, %s B"
              .formatted(figure(is.megabytes()), figure(is.micros()), bytes(is.allocated()));
      case PeerRow.Unmeasured not -> not.why().replace("|", "\\|");
    };
  }

  private static String name(int size) {
    if (size % (1 << MIB) == 0) {
      return (size >> MIB) + " MiB";
    }
    return size % (1 << KIB) == 0 ? (size >> KIB) + " KiB" : size + " B";
  }

  private static String figure(double value) {
    return value < FEW ? "%.2f".formatted(value) : one(value);
  }

  private static String bytes(double value) {
    return value < NOTHING ? "0" : one(value);
  }

  private static String one(double value) {
    return (value < SOME ? "%.1f" : "%,.0f").formatted(value);
  }
}
