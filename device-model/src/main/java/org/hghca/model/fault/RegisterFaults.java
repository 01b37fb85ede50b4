package org.hghca.model.fault;

import java.util.List;
import org.hghca.abi.Bar;

/** Faults of registers, doorbells and the PCI function. */
final class RegisterFaults {
  private RegisterFaults() {}

  /** All of them. */
  static List<Fault> list() {
    return List.of(
        new Fault(
            "dead-doorbell",
            Fault.ALL,
            "doorbells are ignored: no store to BAR2, or on virtio no notification, has "
                + "an effect",
            "doorbells do not reach the card",
            ChangedRegisters.DeadDoorbells::new),
        new Fault(
            "all-ones",
            Fault.ALL,
            "each register reads as all ones",
            "the registers do not respond",
            ChangedRegisters.AllOnes::new),
        new Fault(
            "no-hcr",
            Fault.HCAS,
            "BAR0 reads as zeros and keeps nothing",
            "there is no command register",
            ChangedRegisters.NoHcr::new),
        new Fault(
            "hcr-stuck-bit",
            Fault.HCAS,
            "bit 13 of in_param[31:0] in the HCR stays 0",
            "a bit of the HCR is stuck",
            ChangedRegisters.StuckBit::new),
        new Fault(
            "small-bar2",
            Fault.HCAS,
            "BAR2 has 16 KiB instead of 8 MiB",
            "BAR2 is too small",
            () -> ChangedIdentity.bar2(4L * Bar.UAR_PAGE_SIZE)),
        new Fault(
            "init-hangs",
            Fault.HCAS,
            "INIT_HCA with a mailbox never ends",
            "INIT_HCA hangs",
            ChangedRegisters.HangingInit::new),
        new Fault(
            "no-reset",
            Fault.ALL,
            "the function has no function-level reset, as with reset=none",
            "the function cannot be reset",
            NoReset::new),
        new Fault(
            "split-doorbell",
            Fault.HCAS,
            "an 8-byte store to BAR2 arrives as a 4-byte store of its low half",
            "an 8-byte store is split on its way",
            ChangedRegisters.HalfDoorbells::new),
        new Fault(
            "lost-doorbells",
            Fault.ALL,
            "each 37th doorbell of a send is ignored",
            "single doorbells are lost",
            ChangedRegisters.LostDoorbells::new),
        new Fault(
            "second-message-lost",
            Fault.HCAS,
            "a send takes 0.2 ms, and a doorbell that rings before its completion is ignored",
            "a message is lost while another is outstanding",
            OneMessage::new));
  }
}
