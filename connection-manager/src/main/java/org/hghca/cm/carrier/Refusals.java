package org.hghca.cm.carrier;

/** The reasons of refusals in words: the codes of REJ and of SIDR_REP. */
public final class Refusals {
  public static final int CONSUMER = 28;

  private static final String[] SERVICE = {
    "success", "unsupported", "the peer refuses", "no queue pair", "redirected", "another version"
  };

  private Refusals() {}

  /** What a reason of REJ means. */
  public static String reason(int code) {
    return switch (code) {
      case 1 -> "the peer has no queue pair";
      case 3 -> "the peer has no resources";
      case 4 -> "the peer has given up waiting";
      case 5 -> "the peer does not support the request";
      case 6, 7 -> "the peer does not know the connection";
      case 8 -> "no listener on the port, with this carrier";
      case 9 -> "the peer does not support the transport";
      case 10 -> "stale: the peer still has an earlier connection of this queue pair";
      case 12 -> "the peer does not have the GID";
      case 26 -> "the path MTU is too large for the peer";
      case 27 -> "too many READs and atomics for the peer";
      case 28 -> "the peer refuses";
      case 30 -> "the peer has this connection already";
      case 31 -> "the peer speaks another version of the carrier's protocol";
      default -> "reason " + code + " of the InfiniBand connection manager";
    };
  }

  /** What a status of SIDR_REP means. */
  public static String status(int code) {
    return code >= 0 && code < SERVICE.length ? SERVICE[code] : "status " + code;
  }
}
