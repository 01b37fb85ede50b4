package org.hghca.model.card;

import java.util.ArrayDeque;
import java.util.List;
import org.hghca.linux.SpinMutex;

/** The faults of one HCA: all are counted, the newest 64 are kept. Thread-safe. */
public final class Faults {
  private static final int KEPT = 64;

  private final ArrayDeque<String> newest = new ArrayDeque<>();
  private final SpinMutex mutex = new SpinMutex();
  private long count;

  public void record(String what) {
    mutex.lock();
    try {
      count++;
      if (newest.size() == KEPT) {
        newest.removeFirst();
      }
      newest.addLast(what);
    } finally {
      mutex.unlock();
    }
  }

  public long count() {
    mutex.lock();
    try {
      return count;
    } finally {
      mutex.unlock();
    }
  }

  /** The faults that are kept, oldest first. */
  public List<String> list() {
    mutex.lock();
    try {
      return List.copyOf(newest);
    } finally {
      mutex.unlock();
    }
  }
}
