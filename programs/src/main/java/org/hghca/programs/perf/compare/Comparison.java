package org.hghca.programs.perf.compare;

import java.util.ArrayList;
import java.util.List;

/**
 * Two sets of results beside each other.
 *
 * @param differences of what both have, in order
 * @param onlyOld what the new one lacks
 * @param onlyNew what the old one lacks
 */
public record Comparison(List<Difference> differences, List<Series> onlyOld, List<Series> onlyNew) {
  /**
   * Compares.
   *
   * @param confidence of the intervals, more than 0, less than 1
   */
  public static Comparison of(Results before, Results after, double confidence) {
    List<Difference> differences = new ArrayList<>();
    List<Series> onlyOld = new ArrayList<>();
    before
        .values()
        .forEach(
            (series, values) -> {
              List<Double> others = after.values().get(series);
              if (others == null) {
                onlyOld.add(series);
              } else {
                differences.add(new Difference(series, values, others, confidence));
              }
            });
    List<Series> onlyNew =
        after.values().keySet().stream()
            .filter(series -> !before.values().containsKey(series))
            .toList();
    return new Comparison(differences, onlyOld, onlyNew);
  }

  /** Whether nothing is worse by more than some percent, and nothing is missing. */
  public boolean holds(double most) {
    return onlyOld.isEmpty() && differences.stream().noneMatch(each -> each.exceeds(most));
  }
}
