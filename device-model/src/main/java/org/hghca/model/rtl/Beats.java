package org.hghca.model.rtl;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** The card reverses each group of 32 bytes between a mailbox and its own copy. */
final class Beats {
  static final int SIZE = 32;

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private Beats() {}

  /**
   * Reverses the groups in place.
   *
   * @param length bytes, a multiple of 32
   */
  static void reverse(MemorySegment bytes, int length) {
    for (long at = 0; at < length; at += SIZE) {
      for (long i = 0; i < SIZE / 2; i += Long.BYTES) {
        long low = bytes.get(LONG, at + i);
        long high = bytes.get(LONG, at + SIZE - Long.BYTES - i);
        bytes.set(LONG, at + i, Long.reverseBytes(high));
        bytes.set(LONG, at + SIZE - Long.BYTES - i, Long.reverseBytes(low));
      }
    }
  }
}
