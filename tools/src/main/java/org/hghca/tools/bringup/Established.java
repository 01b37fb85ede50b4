package org.hghca.tools.bringup;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.bringup.step.StepResult;
import org.hghca.tools.bringup.step.Verdict;

/** What the steps of a session have shown of the device so far. One thread at a time. */
final class Established {
  private final List<Step> steps;
  private final Map<Capability, Step> givers = new EnumMap<>(Capability.class);
  private final Map<String, StepResult> results = new HashMap<>();

  /** What is there, with what it lacks; empty where it lacks nothing. */
  private final Map<Capability, String> there = new EnumMap<>(Capability.class);

  /** Nothing yet. */
  Established(List<Step> steps) {
    this.steps = List.copyOf(steps);
    steps.forEach(step -> step.gives().forEach(what -> givers.put(what, step)));
  }

  /** A step has ended, or was not tried. */
  void ended(StepResult result) {
    results.put(result.step().id(), result);
    if (result.verdict().isGood()) {
      result.step().gives().forEach(what -> there.putIfAbsent(what, ""));
    }
  }

  /** What a step has shown, however it ends. */
  void showed(Observation seen) {
    there.putAll(seen.given());
  }

  /** The steps that some of them need, with these. */
  Set<String> withNeeds(Set<String> ids) {
    Set<String> all = new HashSet<>();
    for (Step step : steps.reversed()) {
      if (ids.contains(step.id())) {
        all.add(step.id());
      }
      if (all.contains(step.id())) {
        step.needs().forEach(need -> all.add(givers.get(need).id()));
      }
    }
    return all;
  }

  /** Whether a step, or what it needs, needs something. */
  boolean reliesOn(Step step, Capability what) {
    return step.needs().contains(what)
        || step.needs().stream().anyMatch(need -> reliesOn(givers.get(need), what));
  }

  /** Why a step cannot run, as the result of what it needs; empty where it can. */
  Optional<Lack> lackOf(Step step) {
    return step.needs().stream()
        .filter(need -> !there.containsKey(need))
        .findFirst()
        .map(need -> lack(need, results.get(givers.get(need).id())));
  }

  /**
   * Why a step does not run.
   *
   * @param verdict of the step
   */
  record Lack(Verdict verdict, String reason) {}

  private static Lack lack(Capability need, StepResult giver) {
    return giver.verdict() == Verdict.FAIL
        ? new Lack(
            Verdict.NOT_JUDGED, "needs %s: %s failed".formatted(need.text(), giver.step().id()))
        : new Lack(giver.verdict(), giver.reason()); // the first reason is used
  }

  /** What is not whole of what a step needs; empty when all is. */
  Optional<String> degradation(Step step) {
    return step.needs().stream()
        .filter(need -> !there.getOrDefault(need, "").isEmpty())
        .map(need -> "degraded: %s (%s)".formatted(there.get(need), givers.get(need).id()))
        .reduce((first, second) -> first + "; " + second);
  }
}
