package org.hghca.model.virtio;

import java.util.Arrays;
import java.util.function.LongPredicate;
import org.hghca.wire.MacTable;

/**
 * Which frames a NIC takes, by their Ethernet address: its own, broadcast, and what the driver has
 * asked for. Used by the thread that does the steps.
 */
final class ReceiveMode implements LongPredicate {
  /** Addresses in a table; with more of them, all of that kind are taken. */
  static final int MOST = 64;

  private static final long BROADCAST = 0xffff_ffff_ffffL;
  private static final long[] NONE = {};

  private final long atPowerOn;
  private long own;
  private boolean promiscuous;
  private boolean allMulticast;
  private long[] unicast;
  private long[] multicast;
  private boolean allUnicast;
  private boolean manyMulticast;

  /**
   * @param own the address of the port
   */
  ReceiveMode(long own) {
    atPowerOn = own;
    reset();
  }

  void reset() {
    own = atPowerOn;
    promiscuous = false;
    allMulticast = false;
    allUnicast = false;
    manyMulticast = false;
    unicast = NONE;
    multicast = NONE;
  }

  @Override
  public boolean test(long mac) {
    if (mac == own || mac == BROADCAST || promiscuous) {
      return true;
    }
    return MacTable.isGroup(mac)
        ? allMulticast || manyMulticast || Arrays.binarySearch(multicast, mac) >= 0
        : allUnicast || Arrays.binarySearch(unicast, mac) >= 0;
  }

  long own() {
    return own;
  }

  void own(long mac) {
    own = mac;
  }

  void promiscuous(boolean on) {
    promiscuous = on;
  }

  void allMulticast(boolean on) {
    allMulticast = on;
  }

  /**
   * Replaces the table of unicast addresses.
   *
   * @param all whether there are more than {@link #MOST}
   */
  void unicast(boolean all, long... macs) {
    allUnicast = all;
    unicast = sorted(macs);
  }

  /** The same, of groups. */
  void multicast(boolean all, long... macs) {
    manyMulticast = all;
    multicast = sorted(macs);
  }

  private static long[] sorted(long... macs) {
    long[] sorted = macs.clone();
    Arrays.sort(sorted);
    return sorted;
  }
}
