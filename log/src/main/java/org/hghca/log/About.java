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
   * @param device its name or locator
   */
  public static About device(Object device) {
    return new About(device.toString(), "", "");
  }

  /** A line about the other end of a connection: its address, or its process. */
  public static About peer(Object peer) {
    return new About("", "", peer.toString());
  }

  /** The same, and a queue pair of the device. */
  public About qpn(int number) {
    return new About(device, "0x%06x".formatted(number), peer);
  }

  /** The same, and the other end of the connection. */
  public About with(Object other) {
    return new About(device, qpn, other.toString());
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
