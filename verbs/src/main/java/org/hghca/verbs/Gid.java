package org.hghca.verbs;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A global identifier: 16 bytes, in the order of the wire.
 *
 * @param subnetPrefix the first eight bytes, the first of them in the highest bits
 * @param interfaceId the last eight bytes
 */
public record Gid(long subnetPrefix, long interfaceId) {
  private static final long LINK_LOCAL = 0xfe80_0000_0000_0000L;
  private static final long IPV4_MAPPED = 0x0000_ffff_0000_0000L;

  /** The unset GID, all zero. */
  public static final Gid NONE = new Gid(0, 0);

  /** The link-local GID of a MAC: fe80:: and the modified EUI-64. */
  public static Gid ofMac(long mac) {
    return new Gid(LINK_LOCAL, eui64(mac));
  }

  /** The modified EUI-64 of a MAC: ff:fe in the middle, the universal/local bit inverted. */
  public static long eui64(long mac) {
    long high = mac >>> 24 & 0xff_ffff;
    long low = mac & 0xff_ffff;
    return (high << 40 | 0xff_feL << 24 | low) ^ 0x0200_0000_0000_0000L;
  }

  /** The GID of an IPv4 address a.b.c.d = 0xaabbccdd: ::ffff:a.b.c.d. */
  public static Gid ofIpv4(int address) {
    return new Gid(0, IPV4_MAPPED | address & 0xffff_ffffL);
  }

  /** The GID of an IP address: that of {@link #ofIpv4}, or the IPv6 address itself. */
  public static Gid of(InetAddress address) {
    ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
    return address instanceof Inet4Address
        ? ofIpv4(bytes.getInt())
        : new Gid(bytes.getLong(), bytes.getLong());
  }

  /** The IP address, of IPv4 for an IPv4-mapped GID. */
  public InetAddress address() {
    try {
      return InetAddress.getByAddress(
          ByteBuffer.allocate(2 * Long.BYTES).putLong(subnetPrefix).putLong(interfaceId).array());
    } catch (UnknownHostException e) {
      throw new AssertionError("sixteen bytes are an address", e);
    }
  }

  /** Whether this is a link-local address, fe80::/64. */
  public boolean isLinkLocal() {
    return subnetPrefix == LINK_LOCAL;
  }

  /** The MAC that a link-local GID was made from. */
  public OptionalLong mac() {
    if (subnetPrefix != LINK_LOCAL || (interfaceId >>> 24 & 0xffff) != 0xfffe) {
      return OptionalLong.empty();
    }
    long eui = interfaceId ^ 0x0200_0000_0000_0000L;
    return OptionalLong.of((eui >>> 40 & 0xff_ffff) << 24 | eui & 0xff_ffff);
  }

  /** The address of an IPv4-mapped GID. */
  public Optional<Integer> ipv4() {
    return subnetPrefix == 0 && (interfaceId & 0xffff_ffff_0000_0000L) == IPV4_MAPPED
        ? Optional.of((int) interfaceId)
        : Optional.empty();
  }

  /**
   * Whether it is that of a multicast group (MGID): an IPv4 address from 224.0.0.0 to
   * 239.255.255.255, or an IPv6 address that begins with ff.
   */
  public boolean isMulticast() {
    return ipv4().map(address -> address >>> 28 == 0xe).orElse(subnetPrefix >>> 56 == 0xff);
  }

  /** The 32 hexadecimal digits of the sixteen bytes in order. */
  public String hex() {
    HexFormat format = HexFormat.of();
    return format.toHexDigits(subnetPrefix) + format.toHexDigits(interfaceId);
  }

  /**
   * Reads {@link #hex}.
   *
   * @throws VerbsException EINVAL when the text is not 32 hexadecimal digits
   */
  public static Gid ofHex(String digits) {
    try {
      if (digits.length() == 32) {
        return new Gid(
            HexFormat.fromHexDigitsToLong(digits, 0, 16),
            HexFormat.fromHexDigitsToLong(digits, 16, 32));
      }
    } catch (NumberFormatException _) {
      // as for a wrong length
    }
    throw new VerbsException(
        Errno.EINVAL, "a GID has 32 hexadecimal digits, not '%s'".formatted(digits));
  }

  /** Eight groups of four digits, as {@code ibv_devinfo -v} prints them. */
  @Override
  public String toString() {
    return hex().replaceAll("(.{4})(?!$)", "$1:");
  }
}
