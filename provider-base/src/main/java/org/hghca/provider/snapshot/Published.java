package org.hghca.provider.snapshot;

import org.hghca.provider.counters.ContextCounters;
import org.hghca.provider.counters.Tally;
import org.hghca.provider.snapshot.Snapshot.Subject;

/** A thing with counts that has a row of its own in snapshots. */
public interface Published extends ContextCounters.Counted {

  /** That of its row. */
  Kind kind();

  /** What its row is about, as of now. */
  Subject subject();

  /** Adds the counts of its row: more than {@link #addTo} where others of its context have them. */
  default void addRow(Tally sum) {
    addTo(sum);
  }
}
