package org.hghca.tools.card;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Numbers as people write them: 31, 0x1f or 1Fh. */
final class Numbers {
  private static final Pattern HEX =
      Pattern.compile("0[xX](\\p{XDigit}{1,16})|(\\p{Digit}\\p{XDigit}{0,16})[hH]");

  private static final int RADIX = 16;

  private Numbers() {}

  /**
   * Reads a number without a sign.
   *
   * @param what it is, for the message
   * @param bits that it may have
   * @throws RequestFailedException when it is none, or too large
   */
  static long parse(String what, String text, int bits) {
    long value;
    Matcher hex = HEX.matcher(text);
    try {
      if (hex.matches()) {
        value = Long.parseUnsignedLong(hex.group(1) != null ? hex.group(1) : hex.group(2), RADIX);
      } else if (text.startsWith("-") || text.startsWith("+")) {
        throw new NumberFormatException();
      } else {
        value = Long.parseUnsignedLong(text);
      }
    } catch (NumberFormatException e) {
      throw new RequestFailedException(
          "%s is a number such as 24, 0x18 or 18h, not '%s'".formatted(what, text));
    }
    if (bits < Long.SIZE && value >>> bits != 0) {
      throw new RequestFailedException(
          "%s has at most %d bits, not %s".formatted(what, bits, text));
    }
    return value;
  }

  /** As {@link #parse}, of at most 32 bits. */
  static int parseInt(String what, String text, int bits) {
    return (int) parse(what, text, bits);
  }

  /** Whether a text is meant as a number. */
  static boolean isNumber(String text) {
    return !text.isEmpty() && Character.isDigit(text.charAt(0));
  }
}
