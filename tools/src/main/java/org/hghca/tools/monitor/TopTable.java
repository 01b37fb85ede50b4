package org.hghca.tools.monitor;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.hghca.provider.snapshot.Kind;
import org.hghca.provider.snapshot.Snapshot.Program;
import org.hghca.provider.snapshot.Snapshot.Subject;
import org.hghca.tools.monitor.Traffic.Connection;
import org.hghca.tools.monitor.Traffic.Flow;
import org.hghca.tools.monitor.Traffic.Use;

/** The table of {@code hghca top}, as wide as there is room: the most important columns stay. */
final class TopTable {
  /** The narrowest table. */
  static final int NARROWEST = 40;

  private static final double STEP = 1000;
  private static final String UNITS = " kMGTPE";

  private final List<Column> columns;

  /** A line: a device of a program, or one of its connections. */
  private record Line(Use use, Connection connection) {
    Flow flow() {
      return connection == null ? use.flow() : connection.flow();
    }

    /** Of the connection; nothing in the line of the device. */
    String of(Function<Subject, String> text) {
      return connection == null || connection.subject().others() > 0
          ? ""
          : text.apply(connection.subject());
    }
  }

  /**
   * A column.
   *
   * @param width characters; to the right if below 0, as of numbers
   * @param rank the columns with the lowest stay when there is little room
   */
  private record Column(String title, int width, int rank, Function<Line, String> text) {
    int room() {
      return Math.abs(width) + 1;
    }

    String put(String value) {
      String cut = value.substring(0, Math.min(value.length(), Math.abs(width)));
      return ("%" + (width < 0 ? "" : "-") + Math.abs(width) + "s").formatted(cut);
    }
  }

  /**
   * A table.
   *
   * @param perSecond whether its numbers are so many a second, for the titles
   */
  TopTable(int width, boolean perSecond) {
    String per = perSecond ? "/s" : "";
    List<Column> all =
        List.of(
            new Column("PID", -7, 0, line -> Long.toString(program(line).pid())),
            new Column("PROGRAM", 18, 5, line -> program(line).name()),
            new Column("DEVICE", 18, 7, line -> line.use().found().snapshot().device()),
            new Column("QP", 8, 1, TopTable::queuePair),
            new Column("TYPE", 4, 9, line -> line.of(Subject::type)),
            new Column("STATE", 6, 6, TopTable::state),
            new Column("SENT" + per, -7, 2, line -> scaled(line.flow().sent())),
            new Column("RECV" + per, -7, 3, line -> scaled(line.flow().received())),
            new Column("SENDS" + per, -7, 8, line -> scaled(line.flow().sends())),
            new Column("ERRORS", -6, 4, line -> scaled((double) errors(line))),
            new Column("PINNED", -7, 10, TopTable::pinned),
            new Column("PEER", 39, 11, line -> line.of(Subject::peer)));
    Set<Column> kept =
        all.stream()
            .sorted(Comparator.comparingInt(Column::rank))
            .takeWhile(new Room(Math.max(width, NARROWEST))::takes)
            .collect(Collectors.toSet());
    this.columns = all.stream().filter(kept::contains).toList();
  }

  /** What is left of a line. */
  private static final class Room {
    private int left;

    Room(int width) {
      this.left = width + 1; // the last column needs no space behind it
    }

    boolean takes(Column column) {
      left -= column.room();
      return left >= 0;
    }
  }

  private static Program program(Line line) {
    return line.use().found().snapshot().program();
  }

  private static String queuePair(Line line) {
    if (line.connection() == null) {
      return "all";
    }
    Subject subject = line.connection().subject();
    return subject.others() > 0 ? subject.others() + " more" : "0x%06x".formatted(subject.number());
  }

  private static String state(Line line) {
    if (line.connection() != null) {
      return line.of(Subject::state);
    }
    if (!line.use().found().isAlive()) {
      return "ended";
    }
    return line.use()
        .found()
        .snapshot()
        .rows(Kind.CONTEXT)
        .map(row -> row.subject().state())
        .findFirst()
        .orElse("");
  }

  private static String pinned(Line line) {
    return line.connection() == null ? scaled((double) line.use().pinned()) : "";
  }

  private static long errors(Line line) {
    return line.connection() == null ? line.use().errors() : line.connection().errors();
  }

  /** A number in at most six characters, by powers of 1000. */
  static String scaled(double value) {
    int unit = 0;
    double left = value;
    while (left >= STEP - 0.5 && unit < UNITS.length() - 1) {
      left /= STEP;
      unit++;
    }
    if (unit == 0) {
      return Long.toString(Math.round(left));
    }
    return (left < 10 ? "%.2f" : left < 100 ? "%.1f" : "%.0f").formatted(left) + UNITS.charAt(unit);
  }

  /** The lines, with that of the titles first. */
  List<String> lines(List<Use> uses) {
    List<String> lines = new ArrayList<>();
    lines.add(line(column -> column.put(column.title())));
    for (Use use : uses) {
      lines.add(line(new Line(use, null)));
      use.connections().forEach(one -> lines.add(line(new Line(use, one))));
    }
    return lines;
  }

  private String line(Line line) {
    return line(column -> column.put(column.text().apply(line)));
  }

  private String line(Function<Column, String> text) {
    return columns.stream().map(text).collect(Collectors.joining(" ")).stripTrailing();
  }
}
