package org.hghca.log;

import org.slf4j.spi.LoggingEventBuilder;

/**
 * What a line of the log is about: a backend gets it as the key-value pairs {@code device}, {@code
 * qpn} and {@code peer}, and does not have to read the message. Immutable.
 */
public final class About {
  /** A line about none of them. */
  public static final About NOTHING = new About("", "", "");

  private final String device;
  private final String qpn;
  private final String peer;

  private About(String device, String qpn, String peer) {
    this.device = device;
    this.qpn = qpn;
    this.peer = peer;
  }

  /**
   * A line about a device.
   *
   * @param device its name or locator, null where it has none yet
   */
  public static About device(Object device) {
    return new About(text(device), "", "");
  }

  /**
   * A line about the other end of a connection.
   *
   * @param peer its address, or its process; null where it is not known
   */
  public static About peer(Object peer) {
    return new About("", "", text(peer));
  }

  /** The same, and a queue pair of the device. */
  public About qpn(int number) {
    return new About(device, "0x%06x".formatted(number), peer);
  }

  /** The same, and the other end of the connection; null where it is not known. */
  public About with(Object other) {
    return new About(device, qpn, text(other));
  }

  private static String text(Object what) {
    return what == null ? "" : what.toString();
  }

  String device() {
    return device;
  }

  LoggingEventBuilder on(LoggingEventBuilder line) {
    return pair(pair(pair(line, "device", device), "qpn", qpn), "peer", peer);
  }

  private static LoggingEventBuilder pair(LoggingEventBuilder line, String key, String value) {
    return value.isEmpty() ? line : line.addKeyValue(key, value);
  }
}
