package org.hghca.tools.bringup.step;

/**
 * What a step shows that a device can do, and later steps build on. A step names what it needs, not
 * who must have shown it: so it also runs where that step has failed for another reason.
 */
public enum Capability {
  FUNCTION("an open function"),
  CONFIGURATION("configuration space"),
  DECODING("memory decoding and bus mastering"),
  BAR0("BAR0"),
  BAR2("BAR2"),
  /** The command register is found. */
  REGISTERS("the command register"),
  /** It keeps the addresses of mailboxes: without that DMA goes anywhere. */
  ADDRESSES("addresses in the command register"),
  /** Commands end. */
  COMMANDS("commands"),
  /** The answers of commands come to memory. */
  MAILBOXES("answers of commands in memory"),
  PROFILE("the profile"),
  /** The limits that tables are laid out by. */
  LIMITS("the limits of the device"),
  /** Each byte of an answer is right: the driver trusts them. */
  ANSWERS("right answers of commands"),
  /** INIT_HCA has laid the tables out. */
  TABLES("tables that are laid out"),
  QPC_PAGES("pages of QPC"),
  CQC_PAGES("pages of CQC"),
  EQC_PAGES("pages of EQC"),
  MPT_PAGES("pages of MPT"),
  MTT_PAGES("pages of MTT"),
  TRANSLATIONS("translation entries"),
  REGIONS("memory regions"),
  COMPLETION_QUEUES("completion queues"),
  QUEUE_PAIRS("queue pairs"),
  /** A request that is rung completes, if only with an error. */
  DOORBELLS("doorbells and completions"),
  /** Messages come back without the driver. */
  LOOP("a loop"),
  /** All kinds of messages come back without the driver. */
  WHOLE_LOOP("SEND, WRITE and READ over a loop"),
  DRIVER("the driver"),
  PORT("the port"),
  /** Messages of the driver come back. */
  MESSAGES("messages that come back"),
  SEND("SEND"),
  WRITE("RDMA WRITE"),
  READ("RDMA READ"),
  EVENTS("events"),
  INTERRUPTS("interrupts"),
  /** The register structures of a virtio device. */
  STRUCTURES("register structures"),
  FEATURES("features"),
  NEGOTIATION("negotiated features"),
  /** The queues of a virtio network device. */
  VIRTQUEUES("virtqueues"),
  STARTED("DRIVER_OK"),
  TRANSMIT("a transmit queue that works"),
  ROCE("RoCE");

  private final String text;

  Capability(String text) {
    this.text = text;
  }

  /** In a sentence behind "needs". */
  public String text() {
    return text;
  }
}
