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
  private final TraceKind kind;

  StepSpan(Locator board, List<Step> steps) {
    this.steps = steps;
    this.trace = PciFunctions.trace(board);
    this.kind =
        TraceKind.control(
            "step",
            r ->
                TraceText.of("steps", steps.get((int) r.first()).id())
                    .with("verdict", Verdict.values()[(int) r.second()].name()));
  }

  /** A step has ended now. */
  void record(Step step, Verdict verdict, long begin) {
    trace.ifPresent(t -> t.span(kind, begin, steps.indexOf(step), verdict.ordinal(), 0, 0));
  }
}
