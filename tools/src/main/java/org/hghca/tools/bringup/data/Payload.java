package org.hghca.tools.bringup.data;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Bytes that depend on the message and on where each is meant to be: data of another message or
 * another place differs.
 */
final class Payload {
  /** What memory holds that no message has reached. */
  static final byte BLANK = 0x5c;

  private static final long FACTOR = 0x9e37_79b9_7f4a_7c15L;

  private Payload() {}

  /** The bytes of a message for a place. */
  static byte[] of(long message, long place, int length) {
    byte[] bytes = new byte[length];
    long word = 0;
    for (int i = 0; i < length; i++) {
      if (i % Long.BYTES == 0) {
        word = (message * FACTOR ^ place + i) * FACTOR;
        word ^= word >>> 29;
      }
      bytes[i] = (byte) (word >>> Byte.SIZE * (i % Long.BYTES));
    }
    return bytes;
  }

  /** Copies bytes into memory. */
  static void put(byte[] bytes, MemorySegment to, long offset) {
    MemorySegment.copy(bytes, 0, to, ValueLayout.JAVA_BYTE, offset, bytes.length);
  }

  /** Bytes of memory. */
  static byte[] get(MemorySegment from, long offset, long length) {
    return from.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
  }
}
