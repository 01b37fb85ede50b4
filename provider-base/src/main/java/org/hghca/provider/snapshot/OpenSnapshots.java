package org.hghca.provider.snapshot;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** The devices that this process has open, whose counters it asks for itself. Thread-safe. */
public final class OpenSnapshots {
  private static final Set<Supplier<Snapshot>> OPEN = ConcurrentHashMap.newKeySet();

  private OpenSnapshots() {}

  /** A device is open: the supplier, which is asked by any thread, copies its counters. */
  public static void add(Supplier<Snapshot> device) {
    OPEN.add(device);
  }

  public static void remove(Supplier<Snapshot> device) {
    OPEN.remove(device);
  }

  /** The counters of all, as they are now. */
  public static List<Snapshot> now() {
    return OPEN.stream().map(Supplier::get).sorted(Comparator.comparing(Snapshot::device)).toList();
  }
}
