package org.hghca.vfio;

import java.net.Inet4Address;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.zip.CRC32;

/**
 * The Ethernet and IPv4 address of a function's port. No command of the card supplies them, so they
 * are parameters of the locator: {@code ?mac=02:00:00:00:00:01&ip=10.0.0.1}. Without {@code mac=}
 * the MAC is taken from the function's serial number, where network cards keep it, else it is a
 * locally administered one from a hash of the locator. Without {@code ip=} it is the IPv4 address
 * that the port is bound to by {@code net=udp:}, else 10.0.0.0/8 and the last three bytes of the
 * MAC. With {@code net=packet:IFACE} and {@code share=true} both are those of the interface.
 *
 * @param mac 48 bits, the first byte of the written form in bits 47:40
 * @param ip IPv4 address, a.b.c.d as 0xaabbccdd
 */
public record LinkAddress(long mac, int ip) {
  private static final String BOUND = "udp:";
  private static final String PACKET = "packet:";

  /**
   * The address that a locator specifies or implies, for use without an open function.
   *
   * @throws VfioException {@code INVALID} when mac or ip is malformed
   */
  public static LinkAddress of(Locator locator) {
    CRC32 crc = new CRC32();
    crc.update(locator.toString().getBytes(StandardCharsets.UTF_8));
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

  private static LinkAddress of(Locator locator, long otherwise) {
    Optional<NetworkInterface> shared = sharedWith(locator);
    long mac =
        locator
            .parameter("mac")
            .map(LinkAddress::parseMac)
            .or(() -> shared.flatMap(LinkAddress::macOf))
            .orElse(otherwise);
    int ip =
        locator
            .parameter("ip")
            .or(() -> boundTo(locator))
            .map(LinkAddress::parseIp)
            .or(() -> shared.flatMap(LinkAddress::ipOf))
            .orElse(0x0a00_0000 | (int) (mac & 0xff_ffff));
    return new LinkAddress(mac, ip);
  }

  private static Optional<String> boundTo(Locator locator) {
    return locator
        .parameter("net")
        .filter(net -> net.startsWith(BOUND))
        .map(net -> net.substring(BOUND.length()));
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

  private static Optional<Integer> ipOf(NetworkInterface shared) {
    return shared
        .inetAddresses()
        .filter(Inet4Address.class::isInstance)
        .map(address -> ByteBuffer.wrap(address.getAddress()).getInt())
        .findFirst();
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

  private static int parseIp(String text) {
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
      throw malformed("ip", text, "a.b.c.d", e);
    }
    if (parts.length != 4) {
      throw malformed("ip", text, "a.b.c.d", null);
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
