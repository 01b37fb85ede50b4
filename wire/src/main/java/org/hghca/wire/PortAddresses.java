package org.hghca.wire;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/** The IP addresses of a port in their order, each as in {@link IpAddress}. Immutable. */
public final class PortAddresses {
  /** A port without addresses. */
  public static final PortAddresses NONE = new PortAddresses(new long[0]);

  /** Upper and lower half of each in turn. */
  private final long[] halves;

  private PortAddresses(long[] halves) {
    this.halves = halves;
  }

  /** Addresses of IPv4 and IPv6. */
  public static PortAddresses of(List<InetAddress> addresses) {
    PortAddresses all = NONE;
    for (InetAddress address : addresses) {
      ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
      all =
          address instanceof Inet4Address
              ? all.with(0, IpAddress.lowOfIpv4(bytes.getInt()))
              : all.with(bytes.getLong(), bytes.getLong());
    }
    return all;
  }

  /** These, and another one behind them, unless it is among them. */
  public PortAddresses with(long high, long low) {
    if (has(high, low)) {
      return this;
    }
    long[] more = Arrays.copyOf(halves, halves.length + 2);
    more[halves.length] = high;
    more[halves.length + 1] = low;
    return new PortAddresses(more);
  }

  /** These, and the link-local address of a MAC. */
  public PortAddresses withLinkLocal(long mac) {
    return with(IpAddress.LINK_LOCAL_HIGH, IpAddress.lowOfLinkLocal(mac));
  }

  public int count() {
    return halves.length / 2;
  }

  /** The upper half of an address. */
  public long high(int index) {
    return halves[2 * index];
  }

  /** The lower half of an address. */
  public long low(int index) {
    return halves[2 * index + 1];
  }

  /** Whether an address is among them. */
  public boolean has(long high, long low) {
    for (int i = 0; i < halves.length; i += 2) {
      if (halves[i + 1] == low && halves[i] == high) {
        return true;
      }
    }
    return false;
  }

  /**
   * The address to reach another one from: of the same family, the one with the longest common
   * prefix, the first of several.
   *
   * @return its index, -1 when there is none of the family
   */
  public int toward(long high, long low) {
    int best = -1;
    int most = -1;
    for (int i = 0; i < count(); i++) {
      if (IpAddress.isIpv4(high(i), low(i)) == IpAddress.isIpv4(high, low)) {
        long differsHigh = high(i) ^ high;
        int common =
            differsHigh != 0
                ? Long.numberOfLeadingZeros(differsHigh)
                : Long.SIZE + Long.numberOfLeadingZeros(low(i) ^ low);
        if (common > most) {
          best = i;
          most = common;
        }
      }
    }
    return best;
  }
}
