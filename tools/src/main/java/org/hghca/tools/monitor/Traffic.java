package org.hghca.tools.monitor;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.hghca.provider.snapshot.Kind;
import org.hghca.provider.snapshot.Snapshot;
import org.hghca.provider.snapshot.Snapshot.Row;
import org.hghca.provider.snapshot.Snapshot.Subject;
import org.hghca.provider.snapshot.SnapshotDirectory.Found;

/**
 * What programs and their connections do, as numbers since their beginning, or a second since the
 * snapshot before.
 */
final class Traffic {
  private static final double MILLIS = 1000;

  private final boolean perSecond;
  private final Map<Key, Measured> before = new HashMap<>();

  /** A row of all snapshots. */
  private record Key(long pid, long start, String device, Subject subject) {
    /** The subject without what changes while it is the same. */
    static Key of(Snapshot snapshot, Subject s) {
      return new Key(
          snapshot.program().pid(),
          snapshot.program().start(),
          snapshot.device(),
          new Subject(s.kind(), s.context(), s.number(), Math.min(s.others(), 1), "", "", "", 0));
    }
  }

  /** A row when it was last different, and what it did then. */
  private record Measured(long time, Row row, Flow flow) {}

  /**
   * Numbers, or numbers a second.
   *
   * @param sent bytes
   * @param received bytes, with those that were read
   * @param sends requests
   */
  record Flow(double sent, double received, double sends) {
    static final Flow NONE = new Flow(0, 0, 0);

    static Flow of(Row row) {
      return new Flow(
          row.value("sent_bytes"),
          row.value("received_bytes") + (double) row.value("read_bytes"),
          row.value("sends_posted"));
    }

    Flow since(Flow earlier, double seconds) {
      return new Flow(
          Math.max(0, sent - earlier.sent) / seconds,
          Math.max(0, received - earlier.received) / seconds,
          Math.max(0, sends - earlier.sends) / seconds);
    }

    Flow plus(Flow other) {
      return new Flow(sent + other.sent, received + other.received, sends + other.sends);
    }
  }

  /**
   * A queue pair, or those that have no row of their own.
   *
   * @param errors since its beginning
   */
  record Connection(Subject subject, Flow flow, long errors) {}

  /**
   * A device of a program.
   *
   * @param errors since its beginning
   * @param pinned bytes
   */
  record Use(Found found, Flow flow, long errors, long pinned, List<Connection> connections) {}

  /** What the lines are sorted by, most first. */
  enum Order {
    traffic,
    sends,
    errors;

    private double of(Flow flow, long failed) {
      return switch (this) {
        case traffic -> flow.sent() + flow.received();
        case sends -> flow.sends();
        case errors -> failed;
      };
    }
  }

  Traffic(boolean perSecond) {
    this.perSecond = perSecond;
  }

  /** What they do now. */
  List<Use> measure(List<Found> programs, Order order) {
    Map<Key, Measured> now = new HashMap<>();
    List<Use> uses = new ArrayList<>();
    for (Found found : programs) {
      uses.add(use(found, now, order));
    }
    before.clear();
    before.putAll(now);
    uses.sort(
        Comparator.comparingDouble((Use use) -> order.of(use.flow(), use.errors())).reversed());
    return uses;
  }

  private Use use(Found found, Map<Key, Measured> now, Order order) {
    Snapshot snapshot = found.snapshot();
    Flow sum = Flow.NONE;
    long errors = 0;
    long pinned = 0;
    for (Row row : snapshot.rows(Kind.CONTEXT).toList()) {
      sum = sum.plus(flow(snapshot, row, now));
      errors += row.value("failures");
      pinned = Math.max(pinned, row.value("pinned_bytes"));
    }
    List<Connection> connections = new ArrayList<>();
    for (Row row : snapshot.rows(Kind.QUEUE_PAIR).toList()) {
      connections.add(
          new Connection(row.subject(), flow(snapshot, row, now), row.value("failures")));
    }
    connections.sort(
        Comparator.comparingDouble((Connection one) -> order.of(one.flow(), one.errors()))
            .reversed());
    return new Use(found, sum, errors, pinned, connections);
  }

  private Flow flow(Snapshot snapshot, Row row, Map<Key, Measured> now) {
    if (!perSecond) {
      return Flow.of(row);
    }
    Key key = Key.of(snapshot, row.subject());
    Measured last = before.get(key);
    Measured measured;
    if (last == null) {
      measured = new Measured(snapshot.time(), row, Flow.NONE);
    } else if (snapshot.time() <= last.time()) {
      measured = last; // the same snapshot again
    } else {
      Flow flow = Flow.of(row).since(Flow.of(last.row()), (snapshot.time() - last.time()) / MILLIS);
      measured = new Measured(snapshot.time(), row, flow);
    }
    now.put(key, measured);
    return measured.flow();
  }
}
