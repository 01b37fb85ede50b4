package org.hghca.provider.counters;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The counters of a context: the sum of the counts of its open objects, where counting costs only
 * an addition, and of its closed objects. Thread-safe; objects are read without stopping them.
 */
public final class ContextCounters {
  private final Set<Counted> counted = new HashSet<>();
  private final Tally closed = new Tally();

  /** An object that counts. */
  public interface Counted {

    /** Adds its counts since its creation, and itself where a gauge counts its kind. */
    void addTo(Tally sum);
  }

  public synchronized void add(Counted object) {
    counted.add(object);
  }

  /** An object is closed: its counts are kept. */
  public synchronized void remove(Counted object) {
    if (counted.remove(object)) {
      object.addTo(closed);
      closed.clearGauges();
    }
  }

  /** Adds the counts of all objects, the closed ones too. */
  public synchronized void addTo(Tally sum) {
    sum.addAll(closed);
    counted.forEach(object -> object.addTo(sum));
  }

  /** The open objects. */
  public synchronized List<Counted> objects() {
    return List.copyOf(counted);
  }
}
