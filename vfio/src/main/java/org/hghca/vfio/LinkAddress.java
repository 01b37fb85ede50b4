package org.hghca.vfio;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.zip.CRC32;

/**
 * The Ethernet and IP addresses of a function's port. No command of the card supplies them, so they
 * are parameters of the locator: {@code ?mac=02:00:00:00:00:01&ip=10.0.0.1,fd00::1}. Without {@code
 * mac=} the MAC is taken from the function's serial number, where network cards keep it, else it is
 * a locally administered one from a hash of the locator. Without {@code ip=} the IP addresses are
 * those that the port is bound to by {@code net=udp:}, else one of IPv4, 10.0.0.0/8 and the last
 * three bytes of the MAC. With {@code net=packet:IFACE} and {@code share=true} all are those of the
 * interface.
 *
 * @param mac 48 bits, the first byte of the written form in bits 47:40
 * @param addresses IP addresses, at least one, each once: first those of IPv4, as Linux has them
 */
public record LinkAddress(long mac, List<InetAddress> addresses) {
  private static final String BOUND = "udp:";
  private static final String PACKET = "packet:";
  private static final String SHARED = "shm:";
  private static final String IP_FORM = "addresses a.b.c.d or of IPv6 such as fd00::1, of one host";

  /** Addresses in the order of Linux. */
  public LinkAddress {
    addresses =
        addresses.stream()
            .distinct()
            .sorted(Comparator.comparing(address -> !(address instanceof Inet4Address)))
            .toList();
  }

  /** The first IPv4 address, a.b.c.d as 0xaabbccdd; 0 when there is none. */
  public int ip() {
    return addresses.getFirst() instanceof Inet4Address first
        ? ByteBuffer.wrap(first.getAddress()).getInt()
        : 0;
  }

  /**
   * The address that a locator specifies or implies, for use without an open function.
   *
   * @throws VfioException {@code INVALID} when mac or ip is malformed
   */
  public static LinkAddress of(Locator locator) {
    CRC32 crc = new CRC32();
    // A device has the same address when it is traced.
    crc.update(
        locator.without(DriverParameter.TRACE.key()).toString().getBytes(StandardCharsets.UTF_8));
    return of(locator, 0x0200_0000_0000L | crc.getValue());
  }

  /**
   * The address of a function's port.
   *
   * @throws VfioException {@code INVALID} when mac or ip in its locator is malformed
   */
  public static LinkAddress of(PciFunction function) {
    OptionalLong mac = SerialNumber.mac(function.configuration());
    return mac.isPresent() ? of(function.locator(), mac.getAsLong()) : of(function.locator());
  }

  /**
   * The address that a locator specifies or implies, of a port whose MAC the device tells.
   *
   * @param otherwise the MAC if the locator specifies none
   * @throws VfioException {@code INVALID} when mac or ip is malformed
   */
  public static LinkAddress of(Locator locator, long otherwise) {
    Optional<NetworkInterface> shared = sharedWith(locator);
    long mac =
        locator
            .parameter("mac")
            .map(LinkAddress::parseMac)
            .or(() -> shared.flatMap(LinkAddress::macOf))
            .orElse(otherwise);
    List<InetAddress> addresses =
        locator
            .parameter("ip")
            .or(() -> boundTo(locator))
            .map(LinkAddress::parseIps)
            .or(() -> shared.flatMap(LinkAddress::ipsOf))
            .orElseGet(() -> List.of(ipv4(0x0a00_0000 | (int) (mac & 0xff_ffff))));
    return new LinkAddress(mac, addresses);
  }

  /** Whether the port of a locator is bound to addresses of the kernel, by {@code net=udp:}. */
  public static boolean isBound(Locator locator) {
    return boundTo(locator).isPresent();
  }

  /** Whether the network of a port is memory that processes share. */
  public static boolean isShared(Locator locator) {
    return locator.parameter("net").filter(net -> net.startsWith(SHARED)).isPresent();
  }

  /** Whether the network of a port finds the way to an IP address by itself. */
  public static boolean findsNeighbors(Locator locator) {
    return isBound(locator) || isShared(locator);
  }

  private static Optional<String> boundTo(Locator locator) {
    return locator
        .parameter("net")
        .filter(net -> net.startsWith(BOUND))
        .map(net -> net.substring(BOUND.length()).replaceAll("%[^],]*", ""));
  }

  /** The interface whose addresses are the port's; what is wrong with it, the link will say. */
  private static Optional<NetworkInterface> sharedWith(Locator locator) {
    if (!locator.parameter("share").filter("true"::equals).isPresent()) {
      return Optional.empty();
    }
    return locator
        .parameter("net")
        .filter(net -> net.startsWith(PACKET))
        .flatMap(
            net -> {
              try {
                return Optional.ofNullable(
                    NetworkInterface.getByName(net.substring(PACKET.length())));
              } catch (SocketException e) {
                return Optional.empty();
              }
            });
  }

  private static Optional<Long> macOf(NetworkInterface shared) {
    try {
      byte[] bytes = shared.getHardwareAddress();
      return Optional.ofNullable(bytes)
          .map(mac -> Long.parseLong(HexFormat.of().formatHex(mac), 16));
    } catch (SocketException e) {
      return Optional.empty();
    }
  }

  private static Optional<List<InetAddress>> ipsOf(NetworkInterface shared) {
    return Optional.of(shared.inetAddresses().map(LinkAddress::withoutScope).toList())
        .filter(addresses -> !addresses.isEmpty());
  }

  private static InetAddress withoutScope(InetAddress address) {
    return of(address.getAddress());
  }

  private static long parseMac(String text) {
    String[] parts = text.split(":", -1);
    long mac = 0;
    try {
      for (String part : parts) {
        if (part.length() != 2) {
          throw new NumberFormatException(part);
        }
        mac = mac << 8 | HexFormat.fromHexDigits(part);
      }
    } catch (NumberFormatException e) {
      throw malformed("mac", text, "aa:bb:cc:dd:ee:ff", e);
    }
    if (parts.length != 6 || (mac >> 40 & 1) != 0) {
      throw malformed("mac", text, "a unicast address aa:bb:cc:dd:ee:ff", null);
    }
    return mac;
  }

  private static List<InetAddress> parseIps(String text) {
    return Arrays.stream(text.split(",", -1))
        .map(one -> one.contains(":") ? parseIpv6(one) : ipv4(parseIpv4(one)))
        .toList();
  }

  private static InetAddress ipv4(int ip) {
    return of(ByteBuffer.allocate(Integer.BYTES).putInt(ip).array());
  }

  private static InetAddress of(byte[] address) {
    try {
      return InetAddress.getByAddress(address);
    } catch (UnknownHostException e) {
      throw new AssertionError("4 or 16 bytes are an address", e);
    }
  }

  private static InetAddress parseIpv6(String text) {
    try {
      InetAddress address = Inet6Address.ofLiteral(text);
      if (!text.contains("%") && !address.isAnyLocalAddress() && !address.isMulticastAddress()) {
        return address;
      }
    } catch (IllegalArgumentException e) {
      throw malformed("ip", text, IP_FORM, e);
    }
    throw malformed("ip", text, IP_FORM, null);
  }

  private static int parseIpv4(String text) {
    String[] parts = text.split("\\.", -1);
    int ip = 0;
    try {
      for (String part : parts) {
        int value = Integer.parseInt(part);
        if (!part.chars().allMatch(c -> c >= '0' && c <= '9') || value > 255) {
          throw new NumberFormatException(part);
        }
        ip = ip << 8 | value;
      }
    } catch (NumberFormatException e) {
      throw malformed("ip", text, IP_FORM, e);
    }
    if (parts.length != 4) {
      throw malformed("ip", text, IP_FORM, null);
    }
    return ip;
  }

  private static VfioException malformed(
      String parameter, String text, String expected, Throwable cause) {
    return new VfioException(
        VfioException.Reason.INVALID,
        "locator parameter %s=%s: expected %s".formatted(parameter, text, expected),
        cause);
  }

  /** The MAC in its written form, {@code 02:00:00:00:00:01}. */
  public String macText() {
    StringBuilder text = new StringBuilder(17);
    for (int shift = 40; shift >= 0; shift -= 8) {
      text.append("%02x".formatted(mac >> shift & 0xff));
      if (shift > 0) {
        text.append(':');
      }
    }
    return text.toString();
  }
}
