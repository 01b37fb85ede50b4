package org.hghca.wire;

/** The medium that a port is attached to. */
public interface Medium {
  /** {@link #window} of a medium that keeps everything. */
  int DEFAULT_WINDOW = 256;

  /** Whether another port is at the other end. */
  boolean isUp();

  /**
   * Takes ownership of a packet of a port: delivers it to another port, or returns it to the pool.
   */
  void carry(EthernetPort from, Packet packet);

  /**
   * How long a run of packets may be that passes now from a port to an address: another port has
   * it, and nothing that is on its way, disturbs it or looks at it is in between.
   *
   * @param ipHigh the upper half of the address, as in {@link IpAddress}, for a medium that {@link
   *     #findsNeighbors}
   * @param ipLow the lower half
   * @return bytes of payload, 0 where no run passes
   */
  default int longestRun(EthernetPort from, long destinationMac, long ipHigh, long ipLow) {
    return 0;
  }

  /**
   * Carries a run of packets that may pass; see {@link RunTaker#take}.
   *
   * @return false when the packets must come one by one
   */
  default boolean carry(EthernetPort from, PacketRun run) {
    return false;
  }

  /** Whether it accepts packets now. */
  default boolean hasRoom() {
    return true;
  }

  /** The largest path MTU whose packets it carries. */
  default int pathMtu() {
    return Packet.MAX_PAYLOAD;
  }

  /** KiB that it buffers until the receiver takes them, at least 64: more may be lost. */
  default int window() {
    return DEFAULT_WINDOW;
  }

  /** Whether it loses packets now and then, as networks do. */
  default boolean losesPackets() {
    return false;
  }

  /**
   * Whether the thread of this step is likely to send more at once, so that an acknowledgement may
   * leave with that: it is sent at the latest in the next step, or by a command.
   */
  default boolean sendsSoon() {
    return false;
  }

  /** An acknowledgement waits, as {@link #sendsSoon} allows: a step must follow. */
  default void holds() {}

  /**
   * Whether everything that had come by a time is delivered; where it is not, it soon is.
   *
   * @param time by the clock of the port's owner
   */
  default boolean hasDelivered(long time) {
    return true;
  }

  /**
   * Whether packets may have an IP address as their source, in halves as {@link IpAddress} has
   * them.
   */
  default boolean sendsFrom(long high, long low) {
    return true;
  }

  /**
   * A port joins a multicast group.
   *
   * @param high the upper half of the group's address, as in {@link IpAddress}
   * @param low the lower half
   * @return false when the network refuses it
   */
  default boolean join(long high, long low) {
    return true;
  }

  /** A port leaves a multicast group. */
  default void leave(long high, long low) {}

  /** Whether it resolves the Ethernet address of an IP address by itself. */
  default boolean findsNeighbors() {
    return false;
  }
}
