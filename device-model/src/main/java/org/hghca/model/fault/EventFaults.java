package org.hghca.model.fault;

import java.util.List;

/** Faults of completions, events and interrupts. */
final class EventFaults {
  private EventFaults() {}

  /** All of them. */
  static List<Fault> list() {
    return List.of(
        new Fault(
            "no-cqe",
            Fault.ALL,
            "no completion is written",
            "completions do not arrive",
            () -> ChangedData.lost(Use.COMPLETION, Use.COMPLETION_RING)),
        new Fault(
            "cqe-wrong-qpn",
            Fault.ALL,
            "a bit of the QPN of each completion is wrong",
            "completions name another queue pair",
            () -> ChangedData.of(Use.COMPLETION, ChangedEntries::wrongQpn)),
        new Fault(
            "cqe-wrong-opcode",
            Fault.ALL,
            "the lowest bit of the opcode of each completion is wrong",
            "completions have another opcode",
            () -> ChangedData.of(Use.COMPLETION, ChangedEntries::wrongOpcode)),
        new Fault(
            "cqe-duplicate",
            Fault.HCAS,
            "each fifth completion is written twice",
            "a completion arrives twice",
            ChangedEntries.Twice::new),
        new Fault(
            "cq-no-wrap",
            Fault.HCAS,
            "completions behind the last entry of a CQ are lost, instead of going to the "
                + "first one",
            "the CQ does not wrap",
            () -> new ChangedEntries.NoWrap(Use.COMPLETION)),
        new Fault(
            "no-eqe",
            Fault.DOCUMENT,
            "no event is written",
            "events do not arrive",
            () -> ChangedData.lost(Use.EVENT)),
        new Fault(
            "eq-no-wrap",
            Fault.DOCUMENT,
            "events behind the last entry of an EQ are lost, instead of going to the "
                + "first one",
            "the EQ does not wrap",
            () -> new ChangedEntries.NoWrap(Use.EVENT)),
        new Fault(
            "no-interrupt",
            Fault.NOT_RTL,
            "no interrupt is raised",
            "interrupts do not arrive",
            ChangedInterrupts.None::new),
        new Fault(
            "wrong-vector",
            Fault.NOT_RTL,
            "each interrupt has the next vector",
            "interrupts have another vector",
            ChangedInterrupts.Wrong::new),
        new Fault(
            "one-interrupt",
            Fault.NOT_RTL,
            "only the first interrupt after a reset is raised",
            "interrupts arrive once only",
            ChangedInterrupts.First::new),
        new Fault(
            "interrupt-storm",
            Fault.NOT_RTL,
            "each interrupt is raised a hundred times",
            "interrupts arrive without a cause",
            ChangedInterrupts.Storm::new));
  }
}
