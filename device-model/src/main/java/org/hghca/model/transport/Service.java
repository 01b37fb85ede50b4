package org.hghca.model.transport;

import org.hghca.wire.PacketOpcode;

/** The transport services that a queue pair may have. */
public enum Service {
  /** Reliable connection. */
  RC(PacketOpcode.RC),
  /** Unreliable connection. */
  UC(PacketOpcode.UC),
  /** Unreliable datagram. */
  UD(PacketOpcode.UD);

  private final int opcodeBits;

  Service(int opcodeBits) {
    this.opcodeBits = opcodeBits;
  }

  /** The bits of a packet's opcode that name the service. */
  int opcodeBits() {
    return opcodeBits;
  }
}
