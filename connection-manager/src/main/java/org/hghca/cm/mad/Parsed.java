package org.hghca.cm.mad;

/** What the bytes of a datagram to queue pair 1 are. */
public sealed interface Parsed permits Mad, Parsed.Malformed {

  /**
   * Reads a datagram. Any bytes have a result.
   *
   * @param bytes the datagram without the global route header
   */
  static Parsed of(byte[] bytes) {
    return Codec.read(bytes);
  }

  /**
   * Bytes that are no message of the connection manager.
   *
   * @param reason what is wrong, with the value
   */
  record Malformed(String reason) implements Parsed {}
}
