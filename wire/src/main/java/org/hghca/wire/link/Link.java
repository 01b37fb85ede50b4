package org.hghca.wire.link;

import org.hghca.wire.Packet;
import org.hghca.wire.PortAddresses;

/**
 * A medium that leads out of this process. The owner sends, on one thread at a time; what comes in
 * is read by the {@link LinkPoller}. Nothing here blocks, and nothing allocates for a packet.
 */
public interface Link extends AutoCloseable {

  /** What it is, in one line, such as {@code udp 192.0.2.1:4791, path MTU 1024}. */
  String description();

  /** The largest path MTU whose packets it carries whole: 256, 512, 1024, 2048 or 4096 bytes. */
  int pathMtu();

  /**
   * The IP addresses that packets leave from and come to. A packet with another source leaves from
   * the one of these that is next to its destination.
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

  /** Sends what was taken. */
  void flush();

  /**
   * Takes part in a multicast group: packets to it come in from now on. The link is not in the
   * group before. Packets that it sends itself may come back.
   *
   * @param high the upper half of the group's address, as in {@link org.hghca.wire.IpAddress}
   * @param low the lower half
   * @return false when the system or the kind of address does not let it
   */
  boolean join(long high, long low);

  /** Takes part in a multicast group no longer, which was joined. */
  void leave(long high, long low);

  /** What it did since it was opened. Thread-safe. */
  LinkCounters counters();

  /**
   * Begins to receive. Called once, before all others that send or receive.
   *
   * @param watch where to name the descriptors to wait on
   */
  void open(LinkWatch watch);

  /**
   * Reads what has come, as far as there is room for it. By the poller, while the owner may send.
   */
  void receive(ReceiveBatch batch);

  /** When {@link #receive} is due without anything coming, by {@link System#nanoTime}. */
  default long deadline() {
    return Long.MAX_VALUE;
  }

  /** Gives everything back; nothing is called at the same time, or later. */
  @Override
  void close();
}
