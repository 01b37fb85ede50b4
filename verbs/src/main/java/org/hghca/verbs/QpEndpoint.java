package org.hghca.verbs;

import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;

/**
 * The data that two sides exchange to connect queue pairs.
 *
 * @param lid local identifier; 0 on Ethernet
 * @param qpNumber 24 bits
 * @param psn the first packet sequence number that this side sends, 24 bits
 * @param gid the port's address
 * @param wrapMemory the memory that this side offers for the peer's PSN wrap, from {@link
 *     QueuePair#offerWrapMemory}
 */
public record QpEndpoint(int lid, int qpNumber, int psn, Gid gid, Optional<WrapMemory> wrapMemory) {
  private static final int PARTS = 4;
  private static final int PARTS_WITH_MEMORY = 7;

  public QpEndpoint {
    Objects.requireNonNull(wrapMemory);
  }

  /** A side that offers no memory. */
  public QpEndpoint(int lid, int qpNumber, int psn, Gid gid) {
    this(lid, qpNumber, psn, gid, Optional.empty());
  }

  /**
   * The text that the ping-pong examples exchange, {@code lid:qpn:psn:gid} in hexadecimal. Where
   * memory is offered, {@code :rkey:address:length} follow.
   */
  public String toText() {
    String plain = "%04x:%06x:%06x:%s".formatted(lid, qpNumber, psn, gid.hex());
    return wrapMemory
        .map(m -> "%s:%08x:%016x:%08x".formatted(plain, m.rkey(), m.address(), m.length()))
        .orElse(plain);
  }

  /**
   * Reads {@link #toText}.
   *
   * @throws VerbsException EINVAL when the text is malformed
   */
  public static QpEndpoint parse(String text) {
    String[] parts = text.split(":", -1);
    if (parts.length != PARTS && parts.length != PARTS_WITH_MEMORY) {
      throw malformed(text, null);
    }
    try {
      return new QpEndpoint(
          digits(parts[0], 4),
          digits(parts[1], 6),
          digits(parts[2], 6),
          Gid.ofHex(parts[3]),
          parts.length == PARTS ? Optional.empty() : Optional.of(memory(parts)));
    } catch (IllegalArgumentException | VerbsException e) {
      throw malformed(text, e);
    }
  }

  private static WrapMemory memory(String[] parts) {
    return new WrapMemory(
        digits(parts[PARTS], 8),
        longDigits(parts[PARTS + 1]),
        digits(parts[PARTS_WITH_MEMORY - 1], 8));
  }

  private static int digits(String text, int count) {
    requireLength(text, count);
    return HexFormat.fromHexDigits(text);
  }

  private static long longDigits(String text) {
    requireLength(text, 16);
    return HexFormat.fromHexDigitsToLong(text);
  }

  private static void requireLength(String text, int count) {
    if (text.length() != count) {
      throw new IllegalArgumentException("'%s' does not have %d digits".formatted(text, count));
    }
  }

  private static VerbsException malformed(String text, Throwable cause) {
    return new VerbsException(
        Errno.EINVAL,
        "'%s' is not an endpoint: expected lid:qpn:psn:gid, or with :rkey:address:length of memory"
                .formatted(text)
            + " for the PSN wrap",
        cause);
  }
}
