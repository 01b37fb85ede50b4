package org.hghca.conformance.table;

import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;

/**
 * The result of a test's invocations on one profile.
 *
 * @param missing the features for lack of which some or all were skipped, with their sections
 */
record Result(Outcome outcome, Collection<String> missing) {
  static final Result NOT_RUN = of(Outcome.NOT_RUN);

  static Result of(Outcome outcome) {
    return new Result(outcome, Set.of());
  }

  Result and(Result other) {
    Set<String> both = new TreeSet<>(missing);
    both.addAll(other.missing);
    return new Result(outcome.worse(other.outcome), both);
  }

  /** For the table. */
  String text() {
    String why = String.join("; ", missing);
    return switch (outcome) {
      case UNSUPPORTED -> "UNSUPPORTED: " + why;
      case PASSED -> missing.isEmpty() ? outcome.text() : "passed, but for " + why;
      case NOT_RUN, FAILED -> outcome.text();
    };
  }
}
