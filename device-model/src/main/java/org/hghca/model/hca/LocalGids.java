package org.hghca.model.hca;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.hghca.abi.GidTable;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.IpAddress;

/** The port's own GIDs, an extension of the document's card. The table is on the chip. */
final class LocalGids {
  private final EthernetPort port;
  private final long[] high = new long[GidTable.SIZE];
  private final long[] low = new long[GidTable.SIZE];

  LocalGids(EthernetPort port) {
    this.port = port;
  }

  /**
   * WRITE_GID: sets an entry, or empties it.
   *
   * @return false when there is no such entry, or the port cannot send from the address
   */
  boolean write(int index, MemorySegment mailbox) {
    long newHigh = GidTable.GID_HIGH.getLong(mailbox);
    long newLow = GidTable.GID_LOW.getLong(mailbox);
    if (index < 0
        || index >= GidTable.SIZE
        || (newHigh | newLow) != 0 && !port.sendsFrom(newHigh, newLow)) {
      return false;
    }
    high[index] = newHigh;
    low[index] = newLow;
    return true;
  }

  /** Empties all entries. */
  void reset() {
    Arrays.fill(high, 0);
    Arrays.fill(low, 0);
  }

  /** Whether an entry holds an IPv6 address. */
  boolean isIpv6(int index) {
    return index < GidTable.SIZE && IpAddress.isIpv6(high[index], low[index]);
  }

  /** The IPv4 address in an entry, 0 if there is none. */
  int ipv4(int index) {
    return index < GidTable.SIZE ? IpAddress.ipv4(high[index], low[index]) : 0;
  }

  /** The upper half of an entry, 0 where there is none. */
  long high(int index) {
    return index < GidTable.SIZE ? high[index] : 0;
  }

  /** The lower half of an entry, 0 where there is none. */
  long low(int index) {
    return index < GidTable.SIZE ? low[index] : 0;
  }
}
