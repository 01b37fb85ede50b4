package org.hghca.programs.peer;

import java.nio.charset.StandardCharsets;

/** The process of the other side failed, left, or violates the protocol. */
public final class PeerException extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final int QUOTED = 60;

  public PeerException(String message) {
    super(message);
  }

  public PeerException(String message, Throwable cause) {
    super(message, cause);
  }

  /**
   * The failure of a message that is not what it must be; it quotes the message.
   *
   * @param peer address and port of the other end
   * @param what the message must be
   */
  public static PeerException unexpected(String peer, String what, byte[] message) {
    String text = new String(message, StandardCharsets.ISO_8859_1);
    String shown = text.length() > QUOTED ? text.substring(0, QUOTED) + "..." : text;
    return new PeerException(
        "%s sent '%s' instead of %s".formatted(peer, shown.replaceAll("[^ -~]", "?"), what));
  }
}
