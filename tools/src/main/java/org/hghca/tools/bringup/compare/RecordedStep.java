package org.hghca.tools.bringup.compare;

import java.util.List;
import java.util.Map;
import org.hghca.tools.bringup.step.Verdict;

/**
 * A step in a report.
 *
 * @param id its name
 * @param verdict the one that says most of all rounds
 * @param reason of that verdict; empty when it passed
 * @param millis how long it took, in each round in which it did not fail
 * @param speeds that it measured in these rounds, by name
 */
record RecordedStep(
    String id,
    Verdict verdict,
    String reason,
    List<Double> millis,
    Map<String, List<Double>> speeds) {
  /** The verdict and why, in a line. */
  String text() {
    return verdict.isGood() ? verdict.label() : "%s: %s".formatted(verdict.label(), reason);
  }
}
