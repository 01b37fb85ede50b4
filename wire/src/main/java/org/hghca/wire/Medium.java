package org.hghca.wire;

/** The medium that a port is plugged into. */
public interface Medium {
  /** {@link #window} of a medium that keeps everything. */
  int DEFAULT_WINDOW = 256;

  /** Whether another port is at the other end. */
  boolean isUp();

  /** Takes a packet over from a port: to another port, or back to the pool. */
  void carry(EthernetPort from, Packet packet);

  /** Whether it takes packets now, and not only later. */
  default boolean hasRoom() {
    return true;
  }

  /** The largest path MTU whose packets it carries. */
  default int pathMtu() {
    return Packet.MAX_PAYLOAD;
  }

  /**
   * KiB of one connection that it keeps until the receiver takes them, at least 64: more may be
   * lost.
   */
  default int window() {
    return DEFAULT_WINDOW;
  }

  /**
   * Whether packets may have an IP address as their source, in halves as {@link IpAddress} has
   * them.
   */
  default boolean sendsFrom(long high, long low) {
    return true;
  }

  /** Whether it finds the Ethernet address of an IP address by itself. */
  default boolean findsNeighbors() {
    return false;
  }
}
