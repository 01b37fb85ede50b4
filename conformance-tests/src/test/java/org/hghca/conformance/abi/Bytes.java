package org.hghca.conformance.abi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;

/** Memory written and read as hexadecimal digits in address order; blanks are ignored. */
final class Bytes {
  private Bytes() {}

  /** A segment of {@code size} bytes, aligned to 8, each holding {@code fill}. */
  static MemorySegment filled(int size, int fill) {
    return MemorySegment.ofArray(new long[(size + 7) / 8]).asSlice(0, size).fill((byte) fill);
  }

  static MemorySegment zeros(int size) {
    return filled(size, 0);
  }

  static MemorySegment of(String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
    return zeros(bytes.length).copyFrom(MemorySegment.ofArray(bytes));
  }

  static String hex(MemorySegment segment) {
    return HexFormat.of().formatHex(segment.toArray(ValueLayout.JAVA_BYTE));
  }

  /** Literals joined, without their blanks. */
  static String hex(String... literals) {
    return String.join("", literals).replace(" ", "");
  }

  /**
   * A body of {@code size} zero bytes with literals in it, each written as {@code "1c: 00000040"}.
   */
  static String body(int size, String... literals) {
    StringBuilder digits = new StringBuilder("00".repeat(size));
    for (String literal : literals) {
      int colon = literal.indexOf(':');
      int start = 2 * Integer.parseInt(literal, 0, colon, 16);
      String value = literal.substring(colon + 1).replace(" ", "");
      digits.replace(start, start + value.length(), value);
    }
    if (digits.length() != 2 * size) {
      throw new IllegalArgumentException("a literal ends behind the body");
    }
    return digits.toString();
  }
}
