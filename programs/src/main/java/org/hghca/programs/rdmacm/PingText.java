package org.hghca.programs.rdmacm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * What an rping sends: the number of the ping, then the characters from 'A' to 'z' over and over,
 * beginning one later each time, and a zero at the end.
 */
final class PingText {
  private static final int FIRST = 'A';
  private static final int LAST = 'z';

  private PingText() {}

  /** Fills memory with the text of a ping, which is numbered from 0. */
  static void fill(MemorySegment memory, int ping) {
    byte[] bytes = new byte[(int) memory.byteSize()];
    byte[] head = "rdma-ping-%d: ".formatted(ping).getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(head, 0, bytes, 0, Math.min(head.length, bytes.length));
    int range = LAST - FIRST + 1;
    for (int i = head.length; i < bytes.length; i++) {
      bytes[i] = (byte) (FIRST + (ping + i - head.length) % range);
    }
    bytes[bytes.length - 1] = 0;
    MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
  }

  /** The bytes before the first zero; all of them where there is none. */
  static int length(MemorySegment memory) {
    int length = 0;
    while (length < memory.byteSize() && memory.get(ValueLayout.JAVA_BYTE, length) != 0) {
      length++;
    }
    return length;
  }

  /** The text before the first zero. */
  static String of(MemorySegment memory) {
    byte[] bytes = memory.asSlice(0, length(memory)).toArray(ValueLayout.JAVA_BYTE);
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }
}
