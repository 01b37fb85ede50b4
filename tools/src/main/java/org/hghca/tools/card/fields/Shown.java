package org.hghca.tools.card.fields;

import java.math.BigInteger;
import java.util.HexFormat;
import java.util.List;
import org.hghca.tools.raw.Hexdump;

/**
 * A value whose text for people differs from its JSON.
 *
 * @param json a number, a text, or a list or map of them
 * @param text its lines
 */
public record Shown(Object json, List<String> text) {

  /** Copies the lines. */
  public Shown {
    text = List.copyOf(text);
  }

  /** A number: in JSON as it is, in text in hexadecimal. */
  public static Shown hex(long value, int digits) {
    String format = "0x%0" + digits + "x";
    return new Shown(unsigned(value), List.of(format.formatted(value)));
  }

  /** A number in decimal, and in hexadecimal where that differs. */
  public static Shown number(long value) {
    BigInteger unsigned = unsigned(value);
    return new Shown(
        unsigned,
        List.of(
            value >= 0 && value < 10
                ? unsigned.toString()
                : "%d (0x%x)".formatted(unsigned, unsigned)));
  }

  /** A number that has a name. */
  public static Shown named(long value, String name) {
    return new Shown(unsigned(value), List.of("%d (%s)".formatted(value, name)));
  }

  /** Bytes: in JSON in hexadecimal, in text as a dump. */
  public static Shown bytes(byte[] bytes) {
    return new Shown(HexFormat.of().formatHex(bytes), Hexdump.lines(bytes));
  }

  /** Texts: in JSON a list of them, in text one a line. */
  public static Shown lines(List<String> lines) {
    return new Shown(List.copyOf(lines), lines.isEmpty() ? List.of("none") : lines);
  }

  private static BigInteger unsigned(long value) {
    return new BigInteger(Long.toUnsignedString(value));
  }
}
