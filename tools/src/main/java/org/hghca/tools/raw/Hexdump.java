package org.hghca.tools.raw;

import java.util.ArrayList;
import java.util.List;

/** Bytes in lines of 16, as text. */
public final class Hexdump {
  /** Bytes of a line. */
  public static final int COLUMNS = 16;

  private Hexdump() {}

  /** Lines of an offset and 16 bytes in hexadecimal, in groups of four. */
  public static List<String> lines(byte[] bytes) {
    List<String> lines = new ArrayList<>();
    for (int at = 0; at < bytes.length; at += COLUMNS) {
      StringBuilder line = new StringBuilder("%03x:".formatted(at));
      for (int i = at; i < Math.min(bytes.length, at + COLUMNS); i++) {
        line.append(i % 4 == 0 ? "  " : " ").append("%02x".formatted(bytes[i]));
      }
      lines.add(line.toString());
    }
    return lines;
  }
}
