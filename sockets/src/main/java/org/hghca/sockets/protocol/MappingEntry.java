package org.hghca.sockets.protocol;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * An entry of the table, behind that of {@link HalfEntry}, in which an end learns what other memory
 * its peer lets it write. The peer writes it, in the byte order of the table's owner:
 *
 * <pre>
 *   0 offset by which the memory is named, 8 bytes
 *   8 address, 8 bytes
 *  16 key, 4 bytes
 *  20 length, 4 bytes
 * </pre>
 */
public final class MappingEntry {
  /** Bytes of an entry. */
  public static final int BYTES = 24;

  /** Most entries of a table. */
  public static final int MOST = 128;

  private static final int ADDRESS = 8;
  private static final int KEY = 16;
  private static final int LENGTH = 20;

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(HalfEntry.OWN_ORDER);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(HalfEntry.OWN_ORDER);

  private MappingEntry() {}

  /** Fills the source of a write into the peer's table. */
  public static void put(
      MemorySegment memory,
      long at,
      ByteOrder order,
      long offset,
      long address,
      int key,
      int length) {
    memory.set(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(order), at, offset);
    memory.set(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(order), at + ADDRESS, address);
    memory.set(ValueLayout.JAVA_INT_UNALIGNED.withOrder(order), at + KEY, key);
    memory.set(ValueLayout.JAVA_INT_UNALIGNED.withOrder(order), at + LENGTH, length);
  }

  /** The offset in an entry of the own table. */
  public static long offset(MemorySegment memory, long at) {
    return memory.get(LONG, at);
  }

  /** The address in an entry of the own table. */
  public static long address(MemorySegment memory, long at) {
    return memory.get(LONG, at + ADDRESS);
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
