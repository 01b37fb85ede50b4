package org.hghca.abi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;

/** Mailboxes as bytes in hexadecimal, byte 0 first. */
final class Mailboxes {
  private Mailboxes() {}

  /** A mailbox of exactly these bytes; spaces are ignored. */
  static MemorySegment of(String hex) {
    return MemorySegment.ofArray(HexFormat.of().parseHex(hex.replace(" ", "")));
  }

  /** A mailbox without zero bytes, like a used one. */
  static MemorySegment used(int size) {
    return MemorySegment.ofArray(new byte[size]).fill((byte) 0xA5);
  }

  static String hex(MemorySegment mailbox) {
    return HexFormat.of().formatHex(mailbox.toArray(ValueLayout.JAVA_BYTE));
  }

  static String hex(MemorySegment mailbox, int size) {
    return hex(mailbox.asSlice(0, size));
  }
}
