package org.hghca.wire.shm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import org.hghca.wire.PortAddresses;

/**
 * What members say to each other on their socket: first who they are, with the descriptors of what
 * wakes them and of their {@link PairPage}; then, with each ring that they make, its size, with the
 * descriptor of its memory. Little-endian.
 *
 * <pre>
 * hello  00h layout (8)   08h 1 (4)   0Ch number of addresses (4)   10h MAC (8)
 *        18h addresses, 16 each, in two halves of 8
 * ring   00h layout (8)   08h 2 (4)   0Ch bytes (4)                 10h position of its first byte (8)
 * </pre>
 *
 * @param mac of the member's port, 48 bits
 * @param addresses of its port
 */
record Greeting(long mac, PortAddresses addresses) {
  /** "hghcashm" and the version of rings, records and messages. */
  static final long LAYOUT = 0x6867_6863_6173_0002L;

  /** The longest message. */
  static final int BYTES = 24 + 16 * Greeting.MOST_ADDRESSES;

  static final int MOST_ADDRESSES = 64;

  private static final int HELLO = 1;
  private static final int RING = 2;
  private static final int FIXED = 24;

  /**
   * A ring that a member has made.
   *
   * @param bytes its size
   * @param position of its first byte
   */
  record Ring(int bytes, long position) {}

  /** The layout of whoever wrote a message, to name it. */
  static long layout(ByteBuffer message) {
    return message.remaining() < Long.BYTES ? 0 : message.getLong(message.position());
  }

  ByteBuffer write() {
    ByteBuffer message = empty(HELLO, addresses.count(), mac);
    for (int i = 0; i < addresses.count(); i++) {
      message.putLong(addresses.high(i)).putLong(addresses.low(i));
    }
    return message.flip();
  }

  static ByteBuffer write(Ring ring) {
    return empty(RING, ring.bytes(), ring.position()).flip();
  }

  private static ByteBuffer empty(int kind, int count, long value) {
    return ByteBuffer.allocate(BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(LAYOUT)
        .putInt(kind)
        .putInt(count)
        .putLong(value);
  }

  /** Reads a hello; empty when it is none. */
  static Optional<Greeting> read(ByteBuffer message) {
    if (!isOf(message, HELLO)) {
      return Optional.empty();
    }
    int count = message.getInt(12);
    long mac = message.getLong(16);
    if (count < 0 || count > MOST_ADDRESSES || message.limit() != FIXED + 16 * count) {
      return Optional.empty();
    }
    PortAddresses all = PortAddresses.NONE;
    for (int i = 0; i < count; i++) {
      int at = FIXED + 16 * i;
      all = all.with(message.getLong(at), message.getLong(at + 8));
    }
    return Optional.of(new Greeting(mac & 0xffff_ffff_ffffL, all));
  }

  /** Reads the message about a ring; empty when it is none. */
  static Optional<Ring> readRing(ByteBuffer message) {
    return isOf(message, RING) && message.limit() == FIXED
        ? Optional.of(new Ring(message.getInt(12), message.getLong(16)))
        : Optional.empty();
  }

  private static boolean isOf(ByteBuffer message, int kind) {
    return message.limit() >= FIXED && message.getLong(0) == LAYOUT && message.getInt(8) == kind;
  }
}
