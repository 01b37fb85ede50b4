package org.hghca.tools.capture;

import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.Locale;
import java.util.Optional;
import org.hghca.programs.Ipv6Text;
import org.hghca.verbs.Gid;
import org.hghca.wire.capture.CapturedFrame;
import org.hghca.wire.capture.Direction;

/** What the fields of packets are called. */
final class PacketNames {
  private static final DateTimeFormatter TIME =
      new DateTimeFormatterBuilder().appendInstant(9).toFormatter(Locale.ROOT);

  /** The bits of a syndrome with its kind, and with its value. */
  private static final int KIND_SHIFT = 5;

  private static final int VALUE_MASK = 0x1f;

  /** Credits of an acknowledgement that has none, as all of this project. */
  private static final int NO_CREDITS = 0x1f;

  private PacketNames() {}

  /** The time in UTC with nine digits of a second, if the capture has it. */
  static Optional<String> time(CapturedFrame frame) {
    return frame.time().map((Instant time) -> TIME.format(time));
  }

  /** The direction, if the capture has it. */
  static Optional<String> direction(CapturedFrame frame) {
    return frame.direction() == Direction.UNKNOWN
        ? Optional.empty()
        : Optional.of(frame.direction().name().toLowerCase(Locale.ROOT));
  }

  /** An IP address; IPv4 in its own form. */
  static String ip(long high, long low) {
    return new Gid(high, low)
        .ipv4()
        .map(ip -> "%d.%d.%d.%d".formatted(ip >>> 24, ip >>> 16 & 0xff, ip >>> 8 & 0xff, ip & 0xff))
        .orElseGet(() -> Ipv6Text.of(new Gid(high, low)));
  }

  static String mac(long mac) {
    return "%012x".formatted(mac).replaceAll("..(?!$)", "$0:");
  }

  /** What an acknowledgement says (InfiniBand specification, volume 1, 9.7.5.1). */
  static String acknowledgement(int syndrome) {
    int value = syndrome & VALUE_MASK;
    return switch (syndrome >>> KIND_SHIFT) {
      case 0 -> value == NO_CREDITS ? "ACK" : "ACK credits " + value;
      case 1 -> "RNR_NAK timer " + value;
      case 3 ->
          switch (value) {
            case 0 -> "NAK_SEQUENCE";
            case 1 -> "NAK_INVALID_REQUEST";
            case 2 -> "NAK_REMOTE_ACCESS";
            case 3 -> "NAK_REMOTE_OPERATION";
            case 4 -> "NAK_INVALID_RD_REQUEST";
            default -> "NAK " + value;
          };
      default -> "reserved 0x%02x".formatted(syndrome);
    };
  }
}
