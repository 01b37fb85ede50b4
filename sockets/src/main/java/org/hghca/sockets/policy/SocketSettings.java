package org.hghca.sockets.policy;

import java.net.SocketException;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.hghca.sockets.stream.StreamOptions;

/**
 * What the system properties say.
 *
 * @param devices names or locators; none for those of the machine
 * @param networks what goes over RDMA
 * @param fallback after what time a connect is tried over TCP, too; empty for never
 * @param options with which streams begin
 */
public record SocketSettings(
    List<String> devices,
    List<Network> networks,
    Optional<Duration> fallback,
    StreamOptions options) {
  /** Names or locators of the devices, separated by semicolons. */
  public static final String DEVICES = "org.hghca.sockets.devices";

  /** Networks that go over RDMA, separated by commas: all by default. */
  public static final String NETWORKS = "org.hghca.sockets.networks";

  /** {@code tcp}: connects that RDMA does not answer, and listeners, use TCP, too. */
  public static final String FALLBACK = "org.hghca.sockets.fallback";

  /** How long RDMA has time to answer before TCP is tried. */
  public static final String FALLBACK_AFTER = "org.hghca.sockets.fallback.after";

  /** Bytes that may wait to be read, for channels without SO_RCVBUF. */
  public static final String RECEIVE_BUFFER = "org.hghca.sockets.receiveBuffer";

  /** Bytes that may wait to be sent, for channels without SO_SNDBUF. */
  public static final String SEND_BUFFER = "org.hghca.sockets.sendBuffer";

  private static final String EVERYTHING = "0.0.0.0/0,::/0";

  /** Copies the lists. */
  public SocketSettings {
    devices = List.copyOf(devices);
    networks = List.copyOf(networks);
  }

  /**
   * Reads the properties.
   *
   * @param property the value of a property, or null
   * @throws SocketException naming the property, what is wrong, and what it must be
   */
  public static SocketSettings read(UnaryOperator<String> property) throws SocketException {
    List<String> devices =
        Arrays.stream(value(property, DEVICES, "").split(";"))
            .map(String::strip)
            .filter(device -> !device.isEmpty())
            .toList();
    return new SocketSettings(
        devices,
        networks(value(property, NETWORKS, EVERYTHING)),
        fallback(value(property, FALLBACK, "none"), value(property, FALLBACK_AFTER, "PT0.3S")),
        StreamOptions.DEFAULT
            .withReceiveBuffer(
                bytes(property, RECEIVE_BUFFER, StreamOptions.DEFAULT.receiveBuffer()))
            .withSendBuffer(bytes(property, SEND_BUFFER, StreamOptions.DEFAULT.sendBuffer())));
  }

  private static String value(UnaryOperator<String> property, String name, String otherwise) {
    String value = property.apply(name);
    return value == null || value.isBlank() ? otherwise : value.strip();
  }

  private static List<Network> networks(String text) throws SocketException {
    List<Network> networks = new ArrayList<>();
    for (String one : text.split(",")) {
      try {
        networks.add(Network.parse(one.strip()));
      } catch (IllegalArgumentException e) {
        throw refused(
            NETWORKS, text, "networks as 10.0.0.0/8,fd00::/16; '%s' is none".formatted(one), e);
      }
    }
    return networks;
  }

  private static Optional<Duration> fallback(String kind, String after) throws SocketException {
    if (kind.equals("none")) {
      return Optional.empty();
    }
    if (!kind.equals("tcp")) {
      throw refused(FALLBACK, kind, "tcp or none", null);
    }
    try {
      Duration duration = Duration.parse(after);
      if (!duration.isNegative()) {
        return Optional.of(duration);
      }
      throw refused(FALLBACK_AFTER, after, "a duration that is not negative", null);
    } catch (DateTimeParseException e) {
      throw refused(FALLBACK_AFTER, after, "a duration, such as PT0.3S", e);
    }
  }

  private static int bytes(UnaryOperator<String> property, String name, int otherwise)
      throws SocketException {
    String text = value(property, name, Integer.toString(otherwise));
    String range =
        "a number of bytes from %d to %d"
            .formatted(StreamOptions.MIN_BUFFER, StreamOptions.MAX_BUFFER);
    try {
      int bytes = Integer.parseInt(text);
      if (bytes >= StreamOptions.MIN_BUFFER && bytes <= StreamOptions.MAX_BUFFER) {
        return bytes;
      }
      throw refused(name, text, range, null);
    } catch (NumberFormatException e) {
      throw refused(name, text, range, e);
    }
  }

  private static SocketException refused(
      String property, String value, String expected, Throwable cause) {
    return new SocketException(
        "-D%s=%s: it must be %s".formatted(property, value, expected), cause);
  }
}
