package org.hghca.sockets.protocol;

import java.util.Optional;

/** How messages are carried. Both ends of a connection use the same. */
public enum Framing {
  /** RDMA WRITE with an immediate, as librdmacm's rsocket does. */
  WRITES(1);

  private final int version;

  Framing(int version) {
    this.version = version;
  }

  /** The byte in the private data. */
  public int version() {
    return version;
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
