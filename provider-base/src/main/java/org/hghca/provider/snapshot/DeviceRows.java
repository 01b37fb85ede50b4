package org.hghca.provider.snapshot;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.hghca.provider.counters.Tally;
import org.hghca.provider.snapshot.Snapshot.Subject;
import org.hghca.verbs.Counter;

/**
 * The rows of a device's snapshots: of each kind those things that do most, and the sum of the
 * others. Not thread-safe.
 */
final class DeviceRows {
  /** Rows of a kind. */
  static final int MOST = 1000;

  private final SnapshotEncoder encoder;
  private final Tally tally = new Tally();

  /** What things had done when the last row was written, of kinds with more than {@link #MOST}. */
  private Map<Published, Long> before = Map.of();

  DeviceRows(SnapshotEncoder encoder) {
    this.encoder = encoder;
  }

  /** Writes the rows of all things of a device. */
  void write(List<Published> things) {
    Map<Kind, List<Published>> byKind = new HashMap<>();
    for (Published thing : things) {
      byKind.computeIfAbsent(thing.kind(), _ -> new ArrayList<>()).add(thing);
    }
    Map<Published, Long> done = new HashMap<>();
    for (Kind kind : Kind.values()) {
      write(kind, byKind.getOrDefault(kind, List.of()), done);
    }
    before = done;
  }

  private void write(Kind kind, List<Published> things, Map<Published, Long> done) {
    if (things.size() <= MOST) {
      things.forEach(this::row);
      return;
    }
    List<Published> sorted = byActivity(things, done);
    sorted.subList(0, MOST).forEach(this::row);
    List<Published> others = sorted.subList(MOST, sorted.size());
    tally.clear();
    others.forEach(thing -> thing.addRow(tally));
    encoder.row(Subject.others(kind, others.size()), tally);
  }

  private void row(Published thing) {
    tally.clear();
    thing.addRow(tally);
    encoder.row(thing.subject(), tally);
  }

  /** Those first that have done most since the rows before. */
  private List<Published> byActivity(List<Published> things, Map<Published, Long> done) {
    Map<Published, Long> since = new HashMap<>();
    for (Published thing : things) {
      tally.clear();
      thing.addTo(tally);
      long work =
          tally.get(Counter.SENDS_POSTED)
              + tally.get(Counter.RECEIVES_POSTED)
              + tally.get(Counter.COMPLETIONS);
      done.put(thing, work);
      since.put(thing, work - before.getOrDefault(thing, 0L));
    }
    List<Published> sorted = new ArrayList<>(things);
    sorted.sort(Comparator.comparing(since::get, Comparator.reverseOrder()));
    return sorted;
  }
}
