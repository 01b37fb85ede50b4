package org.hghca.tools.monitor;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.hghca.provider.snapshot.Kind;
import org.hghca.provider.snapshot.Snapshot;
import org.hghca.provider.snapshot.Snapshot.Row;
import org.hghca.provider.snapshot.Snapshot.Subject;
import org.hghca.provider.snapshot.SnapshotDirectory;
import org.hghca.provider.snapshot.SnapshotDirectory.Found;
import org.hghca.provider.snapshot.SnapshotDirectory.Reading;

/** The programs of this user that have a device open, with their counters. */
public final class RunningPrograms {
  private final SnapshotDirectory directory;

  private RunningPrograms(SnapshotDirectory directory) {
    this.directory = directory;
  }

  /** Those of this user; empty, and a line says why, where programs cannot publish anything. */
  public static Optional<RunningPrograms> find(PrintWriter err) {
    try {
      return Optional.of(new RunningPrograms(SnapshotDirectory.ofUser()));
    } catch (IOException e) {
      err.println("hghca: no program shows its counters: " + e.getMessage());
      return Optional.empty();
    }
  }

  /** What they have counted; what cannot be read is a line each. */
  public List<Found> read(PrintWriter err) {
    try {
      Reading reading = directory.read();
      reading.complaints().forEach(complaint -> err.println("hghca: " + complaint));
      return reading.snapshots();
    } catch (IOException e) {
      err.println("hghca: %s cannot be read: %s".formatted(directory.path(), e));
      return List.of();
    }
  }

  /** What to say when there are none. */
  public String nobody() {
    return "no program has a device open and shows its counters in " + directory.path();
  }

  /** As JSON: all that a program shows of a device. */
  public static Map<String, Object> json(Found found) {
    Snapshot snapshot = found.snapshot();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("pid", snapshot.program().pid());
    json.put("start", snapshot.program().start());
    json.put("program", snapshot.program().name());
    json.put("alive", found.isAlive());
    json.put("device", snapshot.device());
    json.put("locator", snapshot.locator());
    json.put("time", snapshot.time());
    json.put("contexts", rows(snapshot, Kind.CONTEXT));
    json.put("queue_pairs", rows(snapshot, Kind.QUEUE_PAIR));
    json.put("completion_queues", rows(snapshot, Kind.COMPLETION_QUEUE));
    json.put("ports", rows(snapshot, Kind.PORT));
    json.put("links", rows(snapshot, Kind.LINK));
    return json;
  }

  private static List<Map<String, Object>> rows(Snapshot snapshot, Kind kind) {
    return snapshot.rows(kind).map(RunningPrograms::json).toList();
  }

  private static Map<String, Object> json(Row row) {
    Subject subject = row.subject();
    Map<String, Object> json = new LinkedHashMap<>();
    if (subject.others() > 0) {
      json.put("others", subject.others());
    } else {
      if (subject.context() != 0) {
        json.put("context", subject.context());
      }
      if (subject.kind() != Kind.CONTEXT) {
        json.put("number", subject.number());
      }
      putText(json, "type", subject.type());
      putText(json, "state", subject.state());
      if (!subject.peer().isEmpty()) {
        json.put("peer", subject.peer());
        json.put("peer_number", subject.peerNumber());
      }
    }
    json.putAll(row.values());
    return json;
  }

  private static void putText(Map<String, Object> json, String key, String value) {
    if (!value.isEmpty()) {
      json.put(key, value);
    }
  }
}
