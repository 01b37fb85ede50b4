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

  /** Of the things of kinds with more than {@link #MOST}. */
  private final Map<Published, Activity> activities = new HashMap<>();

  /** How often rows were written. */
  private long round;

  /** What a thing does: kept, as there are thousands and they are looked at twice a second. */
  private static final class Activity {
    private final Published thing;
    private long done;

    /** What it has done since the rows before. */
    private long since;

    /** When it was there. */
    private long round;

    private Activity(Published thing) {
      this.thing = thing;
    }

    private void update(Tally tally, long now) {
      tally.clear();
      thing.addTo(tally);
      long work =
          tally.get(Counter.SENDS_POSTED)
              + tally.get(Counter.RECEIVES_POSTED)
              + tally.get(Counter.COMPLETIONS);
      since = work - done;
      done = work;
      round = now;
    }

    private long since() {
      return since;
    }
  }

  DeviceRows(SnapshotEncoder encoder) {
    this.encoder = encoder;
  }

  /** Writes the rows of all things of a device. */
  void write(List<Published> things) {
    Map<Kind, List<Published>> byKind = new HashMap<>();
    for (Published thing : things) {
      byKind.computeIfAbsent(thing.kind(), _ -> new ArrayList<>()).add(thing);
    }
    round++;
    for (Kind kind : Kind.values()) {
      write(kind, byKind.getOrDefault(kind, List.of()));
    }
    activities.values().removeIf(activity -> activity.round != round);
  }

  private void write(Kind kind, List<Published> things) {
    if (things.size() <= MOST) {
      things.forEach(this::row);
      return;
    }
    List<Activity> sorted = byActivity(things);
    sorted.subList(0, MOST).forEach(activity -> row(activity.thing));
    List<Activity> others = sorted.subList(MOST, sorted.size());
    tally.clear();
    others.forEach(activity -> activity.thing.addRow(tally));
    encoder.row(Subject.others(kind, others.size()), tally);
  }

  private void row(Published thing) {
    tally.clear();
    thing.addRow(tally);
    encoder.row(thing.subject(), tally);
  }

  /** Those first that have done most since the rows before. */
  private List<Activity> byActivity(List<Published> things) {
    List<Activity> sorted = new ArrayList<>(things.size());
    for (Published thing : things) {
      Activity activity = activities.computeIfAbsent(thing, Activity::new);
      activity.update(tally, round);
      sorted.add(activity);
    }
    sorted.sort(Comparator.comparingLong(Activity::since).reversed());
    return sorted;
  }
}
