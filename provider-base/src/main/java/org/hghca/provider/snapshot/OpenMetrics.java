package org.hghca.provider.snapshot;

import java.util.List;
import java.util.function.Predicate;
import org.hghca.provider.snapshot.Snapshot.Program;
import org.hghca.provider.snapshot.Snapshot.Row;
import org.hghca.provider.snapshot.Snapshot.Subject;

/** Snapshots as the text of OpenMetrics 1.0, which Prometheus and others collect. */
public final class OpenMetrics {
  private static final String PREFIX = "hghca_";

  private final List<Snapshot> snapshots;
  private final StringBuilder text = new StringBuilder();

  private OpenMetrics(List<Snapshot> snapshots) {
    this.snapshots = snapshots;
  }

  /** The metrics of all, each with its program and device as labels. */
  public static String text(List<Snapshot> snapshots) {
    OpenMetrics metrics = new OpenMetrics(snapshots);
    for (Kind kind : Kind.values()) {
      kind.metrics().forEach(metric -> metrics.family(kind, metric));
    }
    return metrics.text.append("# EOF\n").toString();
  }

  /** A metric of all things of a kind; nothing where there are none. */
  private void family(Kind kind, Metric metric) {
    String name = PREFIX + kind.prefix() + metric.name();
    Predicate<Row> wanted = row -> row.subject().kind() == kind;
    if (snapshots.stream().noneMatch(one -> one.rows().stream().anyMatch(wanted))) {
      return;
    }
    line("# TYPE ", name, metric.isGauge() ? " gauge" : " counter");
    if (!metric.unit().isEmpty()) {
      line("# UNIT ", name, " " + metric.unit());
    }
    line("# HELP ", name, " " + escaped(metric.description()));
    String sample = metric.isGauge() ? name : name + "_total";
    for (Snapshot snapshot : snapshots) {
      snapshot
          .rows(kind)
          .forEach(
              row -> {
                text.append(sample).append('{');
                labels(snapshot, row.subject());
                text.append("} ").append(row.value(metric.name())).append('\n');
              });
    }
  }

  private void line(String keyword, String name, String rest) {
    text.append(keyword).append(name).append(rest).append('\n');
  }

  private void labels(Snapshot snapshot, Subject subject) {
    Program program = snapshot.program();
    text.append("pid=\"").append(program.pid()).append('"');
    label("start", Long.toString(program.start()));
    label("program", program.name());
    label("device", snapshot.device());
    if (subject.others() > 0) {
      switch (subject.kind()) {
        case QUEUE_PAIR -> label("qp", "others");
        case COMPLETION_QUEUE -> label("cq", "others");
        default -> label("context", "others");
      }
      return;
    }
    if (subject.context() != 0) {
      label("context", Long.toString(subject.context()));
    }
    switch (subject.kind()) {
      case QUEUE_PAIR -> {
        label("qp", "0x%06x".formatted(subject.number()));
        label("type", subject.type());
        if (!subject.peer().isEmpty()) {
          label("peer", subject.peer());
          label("peer_qp", "0x%06x".formatted(subject.peerNumber()));
        }
      }
      case COMPLETION_QUEUE -> label("cq", "0x%x".formatted(subject.number()));
      case PORT, LINK -> label("port", Integer.toString(subject.number()));
      case CONTEXT -> {}
    }
  }

  private void label(String name, String value) {
    text.append(',').append(name).append("=\"").append(escaped(value)).append('"');
  }

  private static String escaped(String value) {
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\"", "\\\"");
  }
}
