package org.hghca.programs.perf;

/** The operation that a test measures. */
public enum Verb {
  SEND("Send"),
  WRITE("RDMA_Write"),
  READ("RDMA_Read"),
  ATOMIC("Atomic");

  private final String title;

  Verb(String title) {
    this.title = title;
  }

  /** As the header of a test has it. */
  String title() {
    return title;
  }

  /** Whether the peer answers with data: its latency is that of the whole round trip. */
  public boolean isRequest() {
    return this == READ || this == ATOMIC;
  }
}
