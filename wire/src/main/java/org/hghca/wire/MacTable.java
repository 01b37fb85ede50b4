package org.hghca.wire;

import java.util.Arrays;

/**
 * The port at which an Ethernet address was last seen, as a switch learns it. A full table is
 * cleared, as a switch may do at any time: no stream of invented addresses makes it grow. Used by
 * one thread.
 */
public final class MacTable {
  /** How many addresses it holds, half of the slots. */
  public static final int CAPACITY = 1024;

  private static final int SLOTS = 2 * CAPACITY;
  private static final long FREE = -1; // no address has more than 48 bits
  private static final long GROUP = 1L << 40;

  private final long[] addresses = new long[SLOTS];
  private final EthernetPort[] ports = new EthernetPort[SLOTS];
  private int count;

  public MacTable() {
    Arrays.fill(addresses, FREE);
  }

  /** Whether an address is that of a group of ports, broadcast included. */
  public static boolean isGroup(long mac) {
    return (mac & GROUP) != 0;
  }

  /** A packet with this source arrived from a port. Group addresses are not learned. */
  public void learn(long mac, EthernetPort port) {
    if (isGroup(mac)) {
      return;
    }
    int slot = slot(mac);
    if (addresses[slot] == FREE) {
      if (count == CAPACITY) {
        clear();
        slot = slot(mac);
      }
      addresses[slot] = mac;
      count++;
    }
    ports[slot] = port;
  }

  /** The port of an address, null if it was not seen. */
  public EthernetPort find(long mac) {
    return ports[slot(mac)];
  }

  /** Removes all entries. */
  public void clear() {
    Arrays.fill(addresses, FREE);
    Arrays.fill(ports, null);
    count = 0;
  }

  /** The slot that an address has, or the free one that it gets. */
  private int slot(long mac) {
    int slot = Long.hashCode(mac * 0x9e37_79b9_7f4a_7c15L) & SLOTS - 1;
    while (addresses[slot] != mac && addresses[slot] != FREE) {
      slot = slot + 1 & SLOTS - 1;
    }
    return slot;
  }
}
