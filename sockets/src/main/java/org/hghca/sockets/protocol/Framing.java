package org.hghca.sockets.protocol;

import java.util.Optional;

/** How messages are carried. Both ends of a connection use the same. */
public enum Framing {
  /** RDMA WRITE with an immediate, as librdmacm's rsocket does. */
  WRITES(1, "RDMA WRITE with an immediate"),

  /**
   * SEND, whose first bytes are the {@link MessageWord}: for devices without immediates or messages
   * of no bytes, between ends of this project. The bytes of the stream follow the word. Each
   * message takes a receive buffer of the peer, whose size the private data has in the place of
   * that of half a receive buffer, and so do all of its credits; table and addresses are 0.
   */
  MESSAGES(0x48, "SEND");

  private final int version;
  private final String operation;

  Framing(int version, String operation) {
    this.version = version;
    this.operation = operation;
  }

  /** The byte in the private data. */
  public int version() {
    return version;
  }

  /** By what requests messages are carried. */
  public String operation() {
    return operation;
  }

  static Optional<Framing> of(int version) {
    for (Framing framing : values()) {
      if (framing.version == version) {
        return Optional.of(framing);
      }
    }
    return Optional.empty();
  }
}
