package org.hghca.model.fault;

import java.util.List;

/** Faults of the command unit, and of the DMA that it begins with. */
final class CommandFaults {
  private CommandFaults() {}

  /** All of them. */
  static List<Fault> list() {
    return List.of(
        new Fault(
            "no-bus-master",
            Fault.ALL,
            "the card accesses no memory, though bus mastering is on",
            "DMA does not work",
            NoBusMaster::new),
        new Fault(
            "mailbox-stuck-bit",
            Fault.ALL,
            "bit 20 of each dword of an answer is stuck at 1",
            "a bit of the answers of commands is stuck",
            () -> ChangedData.answers(ChangedAnswers::stuckBit)),
        new Fault(
            "mailbox-swapped",
            Fault.ALL,
            "the four bytes of each dword of an answer are in the opposite order",
            "the byte order of mailboxes is wrong",
            () -> ChangedData.answers(ChangedAnswers::swapped)),
        new Fault(
            "short-outbox",
            Fault.ALL,
            "the last 8 bytes of an answer are not written",
            "answers of commands are incomplete",
            () -> ChangedData.answers(ChangedAnswers::shortened)),
        new Fault(
            "late-outbox",
            Fault.HCAS,
            "an answer is written 20 ms after the end of its command",
            "answers of commands come late",
            () -> new MisplacedPayload.Late(Use::isAnswer, 20_000_000)),
        new Fault(
            "impossible-limits",
            Fault.ALL,
            "the card reports 2^200 queue pairs, or on virtio CQs of no entries",
            "a limit of the device is outside its range",
            () -> ChangedData.of(Use.LIMITS, ChangedAnswers::impossibleLimits)),
        new Fault(
            "icm-aliased",
            Fault.HCAS,
            "each second page of context memory is the page before it",
            "pages of ICM alias each other",
            MisplacedPayload.AliasedIcm::new));
  }
}
