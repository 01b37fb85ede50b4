package org.hghca.tools.perf.peers;

import java.util.List;
import java.util.stream.Stream;

/** Rows that are compared with each other. */
enum Table {
  /** The verbs beside sockets and copies. */
  MESSAGES(Work.MESSAGES, Row.MESSAGES),
  /** Sockets over RDMA beside the platform's. */
  SOCKETS(Work.STREAM, Row.SOCKETS);

  private final Work work;
  private final List<Row> rows;

  Table(Work work, List<Row> rows) {
    this.work = work;
    this.rows = rows;
  }

  /** What most of its rows measure. */
  Work work() {
    return work;
  }

  /** In their order. */
  List<Row> rows() {
    return rows;
  }

  /** The row of a name. */
  static Row row(String name) {
    return Stream.of(values())
        .flatMap(table -> table.rows.stream())
        .filter(row -> row.name().equals(name))
        .findFirst()
        .orElseThrow();
  }
}
