package org.hghca.cm.mad;

import java.nio.ByteBuffer;
import java.util.function.Function;
import org.hghca.cm.mad.Parsed.Malformed;

/**
 * The common header of MADs, 24 bytes: base version, class, class version, method, status (2
 * bytes), class-specific (2), transaction ID (8), attribute ID (2), reserved (2), attribute
 * modifier (4).
 */
final class Codec {
  private static final int HEADER = Mad.LENGTH - Body.LENGTH;
  private static final int BASE_VERSION = 1;
  private static final int CLASS = 7;
  private static final int CLASS_VERSION = 2;
  private static final int SEND = 3;
  private static final int TRANSACTION = 8;
  private static final int ATTRIBUTE = 16;

  /** Bytes for the additional information of REJ, SIDR_REP and APR. */
  static final int INFORMATION = 72;

  private Codec() {}

  static byte[] write(Mad mad) {
    ByteBuffer bytes = ByteBuffer.allocate(Mad.LENGTH);
    bytes.put((byte) BASE_VERSION).put((byte) CLASS).put((byte) CLASS_VERSION).put((byte) SEND);
    bytes.putLong(TRANSACTION, mad.transactionId());
    int attribute = mad.message().write(body(bytes));
    bytes.putShort(ATTRIBUTE, (short) attribute);
    return bytes.array();
  }

  private static Body body(ByteBuffer bytes) {
    return new Body(bytes.slice(HEADER, Body.LENGTH));
  }

  static Parsed read(byte[] datagram) {
    if (datagram.length != Mad.LENGTH) {
      return new Malformed("%d bytes: a MAD has 256".formatted(datagram.length));
    }
    ByteBuffer bytes = ByteBuffer.wrap(datagram);
    if (bytes.get(0) != BASE_VERSION || bytes.get(1) != CLASS || bytes.get(2) != CLASS_VERSION) {
      return new Malformed(
          "base version %d, class 0x%02x, class version %d: not 1, 7, 2"
              .formatted(bytes.get(0), bytes.get(1), bytes.get(2)));
    }
    if (bytes.get(3) != SEND) {
      return new Malformed("method 0x%02x: not 3, Send".formatted(bytes.get(3)));
    }
    return read(bytes.getLong(TRANSACTION), bytes.getShort(ATTRIBUTE) & 0xffff, body(bytes));
  }

  private static Parsed read(long transaction, int attribute, Body body) {
    return switch (attribute) {
      case Req.ATTRIBUTE -> new Mad(transaction, Req.read(body));
      case Mra.ATTRIBUTE -> new Mad(transaction, Mra.read(body));
      case Rej.ATTRIBUTE -> bounded(body.bits(9, 7, 1), transaction, body, Rej::read);
      case Rep.ATTRIBUTE -> new Mad(transaction, Rep.read(body));
      case Rtu.ATTRIBUTE -> new Mad(transaction, Rtu.read(body));
      case Dreq.ATTRIBUTE -> new Mad(transaction, Dreq.read(body));
      case Drep.ATTRIBUTE -> new Mad(transaction, Drep.read(body));
      case SidrReq.ATTRIBUTE -> new Mad(transaction, SidrReq.read(body));
      case SidrRep.ATTRIBUTE -> bounded(body.u8(5), transaction, body, SidrRep::read);
      case Lap.ATTRIBUTE -> new Mad(transaction, Lap.read(body));
      case Apr.ATTRIBUTE -> bounded(body.u8(8), transaction, body, Apr::read);
      default -> new Malformed("attribute 0x%04x".formatted(attribute));
    };
  }

  /** A message with additional information, whose length is a field. */
  private static Parsed bounded(
      int length, long transaction, Body body, Function<Body, Message> read) {
    return length > INFORMATION
        ? new Malformed(
            "%d bytes of additional information: there is room for 72".formatted(length))
        : new Mad(transaction, read.apply(body));
  }
}
