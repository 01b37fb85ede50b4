package org.hghca.wire.link;

import org.hghca.wire.Packet;
import org.hghca.wire.PacketRun;
import org.hghca.wire.PortAddresses;

/**
 * A medium to other processes. The owner sends, on one thread at a time; the {@link LinkPoller}
 * reads received packets. Nothing here blocks, and nothing allocates for a packet.
 */
public interface Link extends AutoCloseable {

  /** What it is, in one line, such as {@code udp 192.0.2.1:4791, path MTU 1024}. */
  String description();

  /** The largest path MTU whose packets it carries: 256, 512, 1024, 2048 or 4096 bytes. */
  int pathMtu();

  /**
   * The source and destination IP addresses of its packets. A packet with another source leaves
   * from the one of these that is closest to its destination.
   */
  PortAddresses addresses();

  /** Whether packets may reach a peer; always true if the link cannot determine it. */
  boolean isUp();

  /**
   * Whether there is room to send. Where there is none, the owner's {@link LinkUser} is called as
   * soon as there is.
   */
  boolean hasRoom();

  /**
   * Takes a packet to be sent at the next {@link #flush}, or before; it stays the caller's. A
   * packet that cannot be sent is counted and dropped.
   */
  void send(Packet packet);

  /**
   * Whether a {@link #flush} would send something that was received or waits, though no packet was
   * taken: an answer to a neighbor, packets whose destination is known by now, or what the system
   * had no room for. By the thread that receives.
   */
  default boolean needsFlush() {
    return false;
  }

  /**
   * The most bytes of payload of a run of packets that it carries to an address now, 0 for none.
   *
   * @param high the upper half of the address, as in {@link org.hghca.wire.IpAddress}
   * @param low the lower half
   */
  default int longestRun(long high, long low) {
    return 0;
  }

  /**
   * Sends a run of packets, which is no longer than {@link #longestRun} has said.
   *
   * @return false where the packets must be sent one by one
   */
  default boolean send(PacketRun run) {
    return false;
  }

  /**
   * Whether sending or receiving may take a monitor, for which a virtual thread would leave its
   * carrier.
   */
  default boolean takesMonitors() {
    return true;
  }

  /** Whether it may lose what it has taken, as networks do. */
  default boolean losesPackets() {
    return true;
  }

  /** Whether two packets that leave together cost much less than one after the other. */
  default boolean sendsTogether() {
    return false;
  }

  /** KiB that it buffers for an address; by default what fits into that of a UDP socket. */
  default int window() {
    return 128;
  }

  /** Sends the packets taken so far. */
  void flush();

  /**
   * Sends the packets taken so far, by a thread that reads the link again soon, or sends more: then
   * a receiver that is just going to sleep is woken.
   */
  default void flushSoon() {
    flush();
  }

  /**
   * Joins a multicast group: packets to it are received from now on. The link must not be in the
   * group. It may receive packets that it sends itself.
   *
   * @param high the upper half of the group's address, as in {@link org.hghca.wire.IpAddress}
   * @param low the lower half
   * @return false when the system or the address family does not allow it
   */
  boolean join(long high, long low);

  /** Leaves a multicast group that was joined. */
  void leave(long high, long low);

  /** Its counters since it was opened. Thread-safe. */
  LinkCounters counters();

  /**
   * Starts receiving. Called once, before all other methods that send or receive.
   *
   * @param watch where to register the descriptors to wait on
   */
  void open(LinkWatch watch);

  /**
   * Reads what has come, as far as there is room for it. By one thread at a time, under the lock
   * under which the owner sends.
   */
  void receive(ReceiveBatch batch);

  /** Whether {@link #receive} may find something; by any thread, without a lock. */
  default boolean mayHaveReceived() {
    return true;
  }

  /** One of its descriptors has an event, which the next {@link #receive} looks after. */
  default void woken() {}

  /** Whether what comes causes an event at a descriptor only after a {@link #sleep}. */
  default boolean sleeps() {
    return false;
  }

  /**
   * From now on what comes causes an event at a descriptor. As {@link #receive}.
   *
   * @return false where something has come already
   */
  default boolean sleep() {
    return true;
  }

  /**
   * Whether what comes causes an event: with each, or since {@link #sleep}. As {@link #receive}.
   */
  default boolean hasEvents() {
    return true;
  }

  /** When {@link #receive} is due without an event, by {@link System#nanoTime}. */
  default long deadline() {
    return Long.MAX_VALUE;
  }

  /** Releases all resources; no method is called at the same time, or later. */
  @Override
  void close();
}
