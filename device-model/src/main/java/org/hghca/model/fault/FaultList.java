package org.hghca.model.fault;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** All faults that software cards can play. */
public final class FaultList {
  private static final List<Fault> ALL =
      Stream.of(
              RegisterFaults.list(),
              CommandFaults.list(),
              EventFaults.list(),
              PayloadFaults.list(),
              Variations.list())
          .flatMap(List::stream)
          .toList();

  private FaultList() {}

  /** All of them, the legal variations last. */
  public static List<Fault> all() {
    return ALL;
  }

  /** The fault of a {@link Fault#label}. */
  public static Optional<Fault> find(String label) {
    return ALL.stream().filter(fault -> fault.label().equals(label)).findFirst();
  }
}
