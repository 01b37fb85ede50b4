package org.hghca.tools.bringup.cause;

import java.util.List;
import java.util.Optional;
import org.hghca.tools.bringup.cause.Conclusion.Cause;

/** The table of patterns: which failure points to which part of a device. */
final class Patterns {
  private static final String ANSWERS = "(dma\\.first|profile|cmd\\..*|roce\\.limits)";
  private static final String DATA = "(loop\\.(send|write|read|pages)|(rc|uc|ud|data)\\..*)";

  /** In order: the first that fits. */
  private static final List<FailurePattern> TABLE =
      List.of(
          // ---- registers
          FailurePattern.of(
              "(hcr\\.probe|virtio\\.structures|pci\\.identity)",
              "all ones|does not answer",
              "the registers do not respond",
              "BAR0 decoding, the clock and the reset of the PCIe block; was the bus rescanned"
                  + " after the bitstream was loaded?"),
          FailurePattern.of(
              "hcr\\.probe",
              "has a command in progress",
              "a command hangs in the command register",
              "reset the card; if go stays set, the command unit has no clock or is in reset"),
          FailurePattern.of(
              "hcr\\.probe",
              "there is no HCR|not an HCR",
              "there is no command register",
              "the decoding of BAR0 + 0h and + 80000h; is it the right function?"),
          FailurePattern.of(
              "hcr\\.registers",
              "(was set to .*)",
              "a bit or a byte lane of the command register is wrong: it %s",
              "byte enables and data lines between the PCIe block and the HCR"),
          FailurePattern.of(
              "hcr\\.(nop|unknown)",
              "did not|no answer|does not answer",
              "the command unit does not answer",
              "the clock and the reset of the command unit"),
          FailurePattern.of(
              "pci\\.bars",
              "BAR2",
              "BAR2 is too small or missing",
              "the BAR settings of the vendor's PCIe block"),
          FailurePattern.of(
              "pci\\.errors|driver\\.close",
              "the function reports .*(received (?:target|master) abort)",
              "DMA was refused: the function has %s as the answer to a read",
              "the faults of the IOMMU in the system's log; the addresses in MTT entries, WQEs and"
                  + " contexts"),
          FailurePattern.of(
              "pci\\.errors|driver\\.close",
              "the function reports (.*)",
              "the link or its transactions have errors: %s",
              "the clock and the lanes of the link; the PCIe block: payload and read request size,"
                  + " tags, completion time-out"),
          FailurePattern.of(
              "hca\\.init",
              "did not complete|no answer",
              "INIT_HCA hangs",
              "what INIT_HCA waits for: the memories of the contexts, the clocks of the data path"),
          FailurePattern.of(
              ".*",
              "did not complete (\\S+)",
              "the command %s does not end",
              "the block that executes it; the mailbox that it reads or writes"),
          // ---- DMA and mailboxes
          FailurePattern.of(
              ANSWERS,
              "did not reach memory|untouched|was not written|nothing was written",
              "DMA does not work: the answer of a command is not in memory",
              "the bus master bit in the PCIe block, the write requests of the card, the IOMMU"),
          FailurePattern.of(
              "dma\\.first",
              "ms later",
              "the answers of commands come after the end of the command",
              "the order of the writes of the outbox and of go; relaxed ordering of the PCIe"
                  + " block"),
          FailurePattern.of(
              "dma\\.first",
              "BAD_PARAM",
              "DMA does not work: the card refuses or cannot reach the outbox",
              "the bus master bit in the PCIe block, the write requests of the card, the IOMMU"),
          FailurePattern.of(
              "(net\\.transmit|net\\.control)",
              "did not answer|was not taken",
              "notifications do not reach the device, or it accesses no memory",
              "the notification structure; bus mastering; the IOMMU"),
          FailurePattern.of(
              "qp\\.distinct",
              "(the context .* in another page of ICM)",
              "pages of ICM alias each other: %s",
              "the page addresses that MAP_ICM has given, table 3-2-13; what adds them to the"
                  + " offset in a table"),
          FailurePattern.of(
              "qp\\.distinct",
              "(the context .* in the same page of ICM)",
              "entries of ICM alias each other: %s",
              "the address lines 11 to 8 of context memory"),
          // ---- data path without a loop
          FailurePattern.of(
              "path\\.doorbell",
              "no completion",
              "doorbells do not reach the card, or completions do not arrive",
              "BAR2: one 8-byte store at its place; the fetch of the WQE (table 3-4-1); the write"
                  + " of the CQE"),
          FailurePattern.of(
              "(path\\.doorbell|roce\\.objects)",
              "gave the number|is refused|destroyed|answered with OK",
              "the answers of commands are wrong",
              "the byte of the result and the answer behind it; their length in the used ring"),
          FailurePattern.of(
              "roce\\.limits",
              "is 0",
              "a limit of the device is outside its range",
              "what QUERY_DEVICE and QUERY_PORT answer"),
          FailurePattern.of(
              "cmd\\.dev-lim",
              "",
              "a limit of the device is outside its range",
              "the field that is named, table 3-2-4"),
          FailurePattern.of(
              "(path\\.doorbell|loop\\..*)",
              "QPN|queue pair",
              "completions name another queue pair",
              "my_qpn in the CQE, table 3-3-2"),
          FailurePattern.of(
              "path\\.doorbell",
              "opcode",
              "completions have another opcode",
              "opcode in the CQE, table 3-3-2"),
          FailurePattern.of(
              "path\\.datagram",
              "no completion",
              "the payload is not read, or there is no link or MAC",
              "the read of the payload; the link, the transceiver, the lanes of the MAC"),
          FailurePattern.of(
              "driver\\.loop",
              "although a message did without the driver",
              "what the driver sends is lost",
              "MAC and IP of the locator"),
          FailurePattern.of(
              "driver\\.(loop|port)",
              "nothing came back|names a peer",
              "no message reaches the other end",
              "the link, and the addresses of both locators"),
          // ---- events
          FailurePattern.of(
              "event\\.ring",
              "and then no more",
              "the EQ does not turn at its end",
              "the position of the EQ at its last entry; its size in the EQ context"),
          FailurePattern.of(
              "event\\.interrupt",
              "another vector",
              "interrupts have another vector",
              "the vector in the EQ context; the MSI-X table"),
          FailurePattern.of(
              "event\\.interrupt",
              "and then no more",
              "interrupts arrive once only",
              "what re-arms the EQ; the pending bit of the vector"),
          FailurePattern.of(
              "event\\.(interrupt|cq)",
              "did not come|no thread woke",
              "interrupts do not arrive, or once only",
              "MSI-X enable and mask bits; what arms the queue again"),
          FailurePattern.of(
              "event\\.interrupt",
              "no interrupt",
              "interrupts do not arrive, or no events are written",
              "MSI-X enable and mask bits; the message's address and data; the EQ context"),
          FailurePattern.of(
              "event\\.interrupt",
              "interrupts of vector .* for",
              "interrupts arrive without a cause",
              "what clears the pending bit of the vector"),
          FailurePattern.of(
              "event\\..*",
              "events? came|no thread woke|not woken",
              "events do not arrive",
              "the write of the EQE, the arm register of the CQ, the EQ context"),
          FailurePattern.of(
              "loop\\.pages",
              "after its (.*(?:was before|ended with an error))",
              "stale translation entry: %s",
              "what WRITE_MTT and SW2HW_MPT do to the caches of MTT and MPT entries; HW2SW_MPT"),
          FailurePattern.of(
              "(data|loop)\\.pages",
              "(message to page \\S+ is in page \\S+)",
              "the translation of addresses takes the wrong page: the %s",
              "the index into the MTT: its stride and its upper bits; the MPT entry's mtt_addr"),
          FailurePattern.of(
              ".*",
              "but the device raised (\\S+)",
              "the device reports an error that nothing has caused: %s",
              "what raises this event; the state of the object that it names"),
          FailurePattern.of(
              DATA,
              "ms later",
              "completions overtake payload",
              "the order of the writes of payload and CQE; relaxed ordering of the PCIe block"),
          FailurePattern.of(
              "rc\\.ring",
              "no completion|has failed|transport retry",
              "a queue does not turn at its end",
              "the positions of the CQ, the send queue and the receive queue at their last"
                  + " entries"),
          FailurePattern.of(
              DATA,
              "has failed|is broken|completion of the receiver has",
              "completions come twice, or name what was not posted",
              "the CQE and the position of the CQ, table 3-3-2"),
          FailurePattern.of(
              DATA,
              "expected wr_id",
              "completions have another opcode, or are those of another request",
              "opcode and wqe in the CQE, table 3-3-2"),
          FailurePattern.of(
              "rc\\.many",
              "wait for a completion|transport retry|no completion",
              "messages are lost while others are outstanding",
              "the doorbell FIFO; what the card keeps of each queue pair; the bound on what is in"
                  + " flight"),
          FailurePattern.of(
              DATA,
              "no completion|gave no completion|transport retry",
              "messages or their completions are lost",
              "the doorbell FIFO, the fetch of WQEs, acknowledgements; the length that is named"));

  private Patterns() {}

  /** The cause that a failure points to. */
  static Optional<Cause> cause(Finding finding) {
    if (finding.difference().isPresent()) {
      return Optional.of(difference(finding, finding.difference().get()));
    }
    return TABLE.stream()
        .filter(pattern -> pattern.fits(finding.step(), finding.complaint()))
        .findFirst()
        .map(
            pattern ->
                new Cause(
                    pattern.cause(finding.complaint()),
                    finding.step(),
                    finding.complaint(),
                    pattern.lookAt()));
  }

  private static Cause difference(Finding finding, String how) {
    String complaint = finding.complaint();
    String what =
        complaint.startsWith("CQE")
            ? completion(complaint)
            : finding.step().matches(DATA)
                ? "payload is wrong"
                : "the answers of commands or contexts are wrong";
    String lookAt =
        complaint.startsWith("CQE")
            ? "the fields of the CQE, tables 3-3-2 to 3-3-5"
            : finding.step().matches(DATA)
                ? "the data path between the MAC and the PCIe block: its lanes, its byte order, the"
                    + " ends of packets, the MTT of the target"
                : "byte order and data lines of what the card writes by DMA; the fields that"
                    + " differ";
    return new Cause("%s: %s".formatted(what, how), finding.step(), complaint, lookAt);
  }

  /** Which field of a completion differs first. */
  private static String completion(String complaint) {
    return complaint.matches(".*the first at 0[0-3]h")
        ? "completions name another queue pair"
        : complaint.endsWith("the first at 1Ch")
            ? "completions have another opcode"
            : "completions are wrong";
  }

  /** Whether a failure is seldom a consequence of another one. */
  static boolean isOwnEvidence(Finding finding) {
    return finding.difference().isPresent() || finding.step().equals("event.interrupt");
  }
}
