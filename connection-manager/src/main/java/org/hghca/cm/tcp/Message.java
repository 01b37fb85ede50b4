package org.hghca.cm.tcp;

import java.nio.ByteBuffer;
import org.hghca.cm.carrier.PrivateData;

/**
 * A message of the TCP carrier: 12 bytes of header, big-endian as all fields, and a body.
 *
 * <table>
 *   <caption>Header</caption>
 *   <tr><th>bytes</th><th>field</th></tr>
 *   <tr><td>0 to 3</td><td>magic, "HGCM"</td></tr>
 *   <tr><td>4, 5</td><td>version of the protocol</td></tr>
 *   <tr><td>6, 7</td><td>kind</td></tr>
 *   <tr><td>8 to 11</td><td>bytes of the body, at most 512</td></tr>
 * </table>
 *
 * <p>The header is the same in all versions.
 */
record Message(Kind kind, ByteBuffer body) {
  static final int MAGIC = 0x4847_434d;
  static final int VERSION = 1;
  static final int HEADER = 12;
  static final int MAX_BODY = 512;

  /** What a message says; its number is its place. */
  enum Kind {
    REQUEST,
    REPLY,
    REJECT,
    READY,
    DISCONNECT,
    SERVICE_REQUEST,
    SERVICE_REPLY
  }

  /** A refusal: 16 bits of reason, then private data. */
  static Message reject(int reason, PrivateData data) {
    ByteBuffer body = ByteBuffer.allocate(2 + 2 + data.length()).putShort((short) reason);
    Bodies.put(body, data);
    return new Message(Kind.REJECT, body.flip());
  }

  /** A message that has only private data. */
  static Message of(Kind kind, PrivateData data) {
    ByteBuffer body = ByteBuffer.allocate(2 + data.length());
    Bodies.put(body, data);
    return new Message(kind, body.flip());
  }

  /** The bytes of the wire. */
  ByteBuffer encoded() {
    return ByteBuffer.allocate(HEADER + body.remaining())
        .putInt(MAGIC)
        .putShort((short) VERSION)
        .putShort((short) kind.ordinal())
        .putInt(body.remaining())
        .put(body.duplicate())
        .flip();
  }
}
