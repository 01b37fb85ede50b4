package org.hghca.verbs;

import java.util.HexFormat;

/**
 * The data that two sides exchange to connect queue pairs.
 *
 * @param lid local identifier; 0 on Ethernet
 * @param qpNumber 24 bits
 * @param psn the first packet sequence number that this side sends, 24 bits
 * @param gid the port's address
 */
public record QpEndpoint(int lid, int qpNumber, int psn, Gid gid) {
  /** The text that the ping-pong examples exchange: {@code lid:qpn:psn:gid} in hexadecimal. */
  public String toText() {
    return "%04x:%06x:%06x:%s".formatted(lid, qpNumber, psn, gid.hex());
  }

  /**
   * Reads {@link #toText}.
   *
   * @throws VerbsException EINVAL when the text is malformed
   */
  public static QpEndpoint parse(String text) {
    String[] parts = text.split(":", -1);
    if (parts.length != 4) {
      throw malformed(text, null);
    }
    try {
      return new QpEndpoint(
          digits(parts[0], 4), digits(parts[1], 6), digits(parts[2], 6), Gid.ofHex(parts[3]));
    } catch (IllegalArgumentException | VerbsException e) {
      throw malformed(text, e);
    }
  }

  private static int digits(String text, int count) {
    if (text.length() != count) {
      throw new IllegalArgumentException("'%s' does not have %d digits".formatted(text, count));
    }
    return HexFormat.fromHexDigits(text);
  }

  private static VerbsException malformed(String text, Throwable cause) {
    return new VerbsException(
        Errno.EINVAL, "'%s' is not an endpoint: expected lid:qpn:psn:gid".formatted(text), cause);
  }
}
