package org.hghca.cm;

import org.hghca.verbs.QpType;

/** The port spaces of connections: {@code rdma_port_space}. */
public enum PortSpace {
  /** Reliable connections, {@code RDMA_PS_TCP}. */
  TCP(0x0106),
  /** Datagrams, {@code RDMA_PS_UDP}. */
  UDP(0x0111);

  private static final int SHIFT = 16;

  private final int code;

  PortSpace(int code) {
    this.code = code;
  }

  /** The number in librdmacm. */
  public int code() {
    return code;
  }

  /** The service ID of a port. */
  long serviceId(int port) {
    return (long) code << SHIFT | port;
  }

  /** Whether queue pairs of a type belong here. */
  boolean takes(QpType type) {
    return this == UDP == (type == QpType.UD);
  }
}
