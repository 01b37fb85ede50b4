package org.hghca.wire;

/**
 * IP addresses as two numbers of 64 bits, the first byte in the highest bits. An IPv4 address is
 * its mapped IPv6 address ::ffff:a.b.c.d (RFC 4291, 2.5.5.2), as in a GID; :: is no address.
 */
public final class IpAddress {
  /** The upper half of the link-local IPv6 addresses that are derived from Ethernet addresses. */
  public static final long LINK_LOCAL_HIGH = 0xfe80L << 48;

  /** The upper half of the groups of a link, ff02::/16. */
  public static final long LINK_GROUP_HIGH = 0xff02L << 48;

  private static final long SOLICITED_NODE_LOW = 0x1_ff00_0000L;
  private static final long LAST_24_BITS = 0xff_ffff;
  private static final long IPV4_GROUP_MAC = 0x0100_5e00_0000L;
  private static final long IPV6_GROUP_MAC = 0x3333_0000_0000L;
  private static final long MAPPED = 0xffffL << 32;

  private IpAddress() {}

  /** Whether an address is an IPv4 address. */
  public static boolean isIpv4(long high, long low) {
    return high == 0 && low >>> 32 == 0xffff;
  }

  /** Whether an address is an IPv6 address proper: neither mapped from IPv4 nor ::. */
  public static boolean isIpv6(long high, long low) {
    return (high | low) != 0 && !isIpv4(high, low);
  }

  /** The lower half of an IPv4 address, whose upper half is 0; no address for 0. */
  public static long lowOfIpv4(int address) {
    return address == 0 ? 0 : MAPPED | Integer.toUnsignedLong(address);
  }

  /** The IPv4 address, 0 for an address of another kind. */
  public static int ipv4(long high, long low) {
    return isIpv4(high, low) ? (int) low : 0;
  }

  /** Whether an address is that of a multicast group. */
  public static boolean isGroup(long high, long low) {
    return isIpv4(high, low) ? (low >>> 28 & 0xf) == 0xe : high >>> 56 == 0xff;
  }

  /**
   * The lower half of the group in which an IPv6 address is solicited, ff02::1:ffxx:xxxx (RFC 4291,
   * 2.7.1).
   */
  public static long lowOfSolicitedNode(long low) {
    return SOLICITED_NODE_LOW | low & LAST_24_BITS;
  }

  /** The Ethernet address of a multicast group (RFC 1112, 6.4; RFC 2464, 7). */
  public static long groupMac(long high, long low) {
    return isIpv4(high, low)
        ? IPV4_GROUP_MAC | low & 0x7f_ffffL
        : IPV6_GROUP_MAC | low & 0xffff_ffffL;
  }

  /**
   * The lower half of the link-local IPv6 address of an Ethernet address: the modified EUI-64 (RFC
   * 4291, appendix A).
   */
  public static long lowOfLinkLocal(long mac) {
    return (mac >>> 24 ^ 0x2_0000L) << 40 | 0xff_fe00_0000L | mac & 0xff_ffffL;
  }
}
