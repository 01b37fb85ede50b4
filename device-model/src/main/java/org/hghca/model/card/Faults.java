package org.hghca.model.card;

import java.util.ArrayDeque;
import java.util.List;

/** The faults of one HCA: all are counted, the newest 64 are kept. Thread-safe. */
public final class Faults {
  private static final int KEPT = 64;

  private final ArrayDeque<String> newest = new ArrayDeque<>();
  private long count;

  public synchronized void record(String what) {
    count++;
    if (newest.size() == KEPT) {
      newest.removeFirst();
    }
    newest.addLast(what);
  }

  public synchronized long count() {
    return count;
  }

  /** The faults that are kept, oldest first. */
  public synchronized List<String> list() {
    return List.copyOf(newest);
  }
}
