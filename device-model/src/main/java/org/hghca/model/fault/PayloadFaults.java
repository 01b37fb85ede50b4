package org.hghca.model.fault;

import java.util.List;

/** Faults of the data path. */
final class PayloadFaults {
  private PayloadFaults() {}

  /** All of them. */
  static List<Fault> list() {
    return List.of(
        new Fault(
            "deaf-receiver",
            Fault.ALL,
            "packets that arrive are dropped",
            "the receive side does not work",
            DeafPort::new),
        new Fault(
            "payload-stuck-bit",
            Fault.ALL,
            "bit 11 of each dword of payload is stuck at 1",
            "a data line is stuck",
            () -> payload(ChangedPayload::stuckBit)),
        new Fault(
            "payload-truncated",
            Fault.ALL,
            "the last 4 bytes of each write of payload are lost",
            "payload is incomplete at its end",
            () -> payload(ChangedPayload::truncated)),
        new Fault(
            "payload-shifted",
            Fault.ALL,
            "payload is rotated by one byte within each write",
            "payload is shifted by a byte",
            () -> payload(ChangedPayload::shifted)),
        new Fault(
            "payload-words-swapped",
            Fault.ALL,
            "each two dwords of payload change places",
            "the dwords of payload are swapped",
            () -> payload(ChangedPayload::wordsSwapped)),
        new Fault(
            "payload-halves-swapped",
            Fault.ALL,
            "the two halves of each dword of payload change places",
            "the halves of dwords are swapped",
            () -> payload(ChangedPayload::halvesSwapped)),
        new Fault(
            "payload-zeros",
            Fault.ALL,
            "payload arrives as zeros",
            "payload is zeros",
            () -> payload(ChangedPayload::zeros)),
        new Fault(
            "payload-ones",
            Fault.ALL,
            "payload arrives as ones",
            "payload is ones",
            () -> payload(ChangedPayload::ones)),
        new Fault(
            "payload-lost",
            Fault.ALL,
            "payload is not written",
            "payload does not arrive",
            () -> ChangedData.lost(Use.PAYLOAD)),
        new Fault(
            "payload-outside",
            Fault.ALL,
            "the 8 bytes behind each write of payload are overwritten",
            "the card writes behind the message",
            MisplacedPayload.Outside::new),
        new Fault(
            "payload-late",
            Fault.ALL,
            "payload is written 5 ms after it should be, behind its completion",
            "completions overtake payload",
            () -> new MisplacedPayload.Late(use -> use == Use.PAYLOAD, 5_000_000)),
        new Fault(
            "payload-old",
            Fault.ALL,
            "the card sends what it fetched for the packet before",
            "the card sends old payload",
            MisplacedPayload.Old::new),
        new Fault(
            "wrong-page",
            Fault.HCAS,
            "payload for the second page of a region goes to its first page",
            "the translation of addresses takes the wrong page",
            MisplacedPayload.WrongPage::second),
        new Fault(
            "far-page",
            Fault.HCAS,
            "payload for page 512 of a region and later ones goes 512 pages lower",
            "the translation of addresses takes the wrong page",
            MisplacedPayload.WrongPage::far),
        new Fault(
            "contiguous-mtt",
            Fault.HCAS,
            "payload goes to a region as if its pages followed its first one",
            "the translation of addresses takes the wrong page",
            () -> new MisplacedPayload.Translated(Watch::contiguous)),
        new Fault(
            "stale-mtt",
            Fault.HCAS,
            "payload goes to the page that was first written to an MTT entry",
            "the card uses a stale translation entry",
            () -> new MisplacedPayload.Translated(Watch::firstPage)),
        new Fault(
            "stale-mpt",
            Fault.HCAS,
            "payload goes by the MTT entries of the first region of an MPT entry",
            "the card uses a stale translation entry",
            () -> new MisplacedPayload.Translated(Watch::firstRegion)),
        new Fault(
            "one-length",
            Fault.ALL,
            "a write of payload of 389 bytes lacks its last byte",
            "the ends of some lengths are missing",
            () -> payload(ChangedPayload::withoutEnd)),
        new Fault(
            "rare-flip",
            Fault.ALL,
            "a bit of one write of payload in 23 flips",
            "payload has rare bit errors",
            () -> payload(new ChangedPayload.Flip(23))),
        new Fault(
            "rarer-flip",
            Fault.ALL,
            "a bit of one write of payload in 1,009 flips",
            "payload has rare bit errors",
            () -> payload(new ChangedPayload.Flip(1009))));
  }

  private static Injection payload(ChangedData.Change change) {
    return ChangedData.of(Use.PAYLOAD, change);
  }
}
