package org.hghca.tools.bringup;

import java.util.List;
import java.util.Optional;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.bringup.step.Verdict;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.trace.DeviceTrace;
import org.hghca.vfio.trace.TraceKind;
import org.hghca.vfio.trace.TraceText;

/** The steps of a session in the trace of its board. */
final class StepSpan {
  private final List<Step> steps;
  private final Optional<DeviceTrace> trace;
  private final Optional<TraceKind> kind;

  StepSpan(Locator board, List<Step> steps) {
    this.steps = steps;
    this.trace = PciFunctions.trace(board);
    List<String> ids = steps.stream().map(Step::id).toList();
    this.kind = trace.map(_ -> kind(ids));
  }

  /** Kinds stay for the life of the process: this one keeps ids only. */
  private static TraceKind kind(List<String> ids) {
    return TraceKind.control(
        "step",
        r ->
            TraceText.of("steps", ids.get((int) r.first()))
                .with("verdict", Verdict.values()[(int) r.second()].name()));
  }

  /** A step has ended now. */
  void record(Step step, Verdict verdict, long begin) {
    trace.ifPresent(
        t -> t.span(kind.orElseThrow(), begin, steps.indexOf(step), verdict.ordinal(), 0, 0));
  }
}
