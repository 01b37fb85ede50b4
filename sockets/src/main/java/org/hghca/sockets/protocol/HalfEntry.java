package org.hghca.sockets.protocol;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * An entry of the table in which an end learns which half of its peer's receive buffer is free. The
 * peer writes it, in the byte order of the table's owner:
 *
 * <pre>
 *   0 address, 8 bytes
 *   8 key, 4 bytes
 *  12 length, 4 bytes
 * </pre>
 */
public final class HalfEntry {
  /** Entries of a table. */
  public static final int COUNT = 2;

  /** Bytes of an entry. */
  public static final int BYTES = 16;

  private static final int KEY = 8;
  private static final int LENGTH = 12;

  private HalfEntry() {}

  /** The byte order of this machine's own tables, whatever its processor. */
  public static final ByteOrder OWN_ORDER = ByteOrder.LITTLE_ENDIAN;

  /** Fills the source of a write into the peer's table. */
  public static void put(
      MemorySegment memory, long at, ByteOrder order, long address, int key, int length) {
    memory.set(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(order), at, address);
    memory.set(ValueLayout.JAVA_INT_UNALIGNED.withOrder(order), at + KEY, key);
    memory.set(ValueLayout.JAVA_INT_UNALIGNED.withOrder(order), at + LENGTH, length);
  }

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(OWN_ORDER);
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(OWN_ORDER);

  /** The address in an entry of the own table. */
  public static long address(MemorySegment memory, long at) {
    return memory.get(LONG, at);
  }

  /** The key in an entry of the own table. */
  public static int key(MemorySegment memory, long at) {
    return memory.get(INT, at + KEY);
  }

  /** The length in an entry of the own table, in bytes: 32 bits, unsigned. */
  public static long length(MemorySegment memory, long at) {
    return Integer.toUnsignedLong(memory.get(INT, at + LENGTH));
  }
}
