package org.hghca.tools.bringup.cause;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the failures of a session point to.
 *
 * @param causes the most likely ones, one or two; empty when nothing failed
 * @param others ids of the failed steps that no cause has as its evidence
 */
public record Conclusion(List<Cause> causes, List<String> others) {
  private static final int MOST_CAUSES = 2;

  /**
   * A likely cause.
   *
   * @param what is wrong
   * @param step the id of the step that shows it
   * @param evidence what that step saw
   * @param lookAt what to look at
   */
  public record Cause(String what, String step, String evidence, String lookAt) {}

  public Conclusion {
    causes = List.copyOf(causes);
    others = List.copyOf(others);
  }

  /**
   * Draws it: the first failure is where the device first differs from what it should be, and most
   * of what follows is a consequence. A second cause is named when a later failure shows something
   * that no consequence shows.
   *
   * @param findings in the order of the steps
   */
  public static Conclusion of(List<Finding> findings) {
    List<Cause> causes = new ArrayList<>();
    for (Finding finding : findings) {
      Optional<Cause> cause = Patterns.cause(finding);
      if (causes.isEmpty()) {
        causes.add(cause.orElseGet(() -> unknown(finding)));
      } else if (causes.size() < MOST_CAUSES
          && cause.isPresent()
          && Patterns.isOwnEvidence(finding)
          && causes.stream().noneMatch(known -> known.what().equals(cause.get().what()))) {
        causes.add(cause.get());
      }
    }
    List<String> others =
        findings.stream()
            .map(Finding::step)
            .filter(step -> causes.stream().noneMatch(cause -> cause.step().equals(step)))
            .toList();
    return new Conclusion(causes, others);
  }

  private static Cause unknown(Finding finding) {
    return new Cause(
        "no known pattern fits: %s is the first step that fails".formatted(finding.step()),
        finding.step(),
        finding.complaint(),
        finding.lookAt());
  }
}
