package org.hghca.tools.replay;

import java.util.HexFormat;
import java.util.Map;

/**
 * A line of a whole trace.
 *
 * @param number of the line in the file, from 1
 * @param kind of the event
 * @param values by name: {@link Number} or {@link String}
 */
record TraceLine(long number, String kind, Map<String, Object> values) {

  /** A line from the values of JSON. */
  static TraceLine of(long number, Map<String, Object> values) {
    return new TraceLine(number, String.valueOf(values.getOrDefault("kind", "")), values);
  }

  /** A number that JSON has as one. */
  long number(String name) {
    if (values.get(name) instanceof Number value) {
      return value.longValue();
    }
    throw damaged(name);
  }

  /** A number in hexadecimal, up to 64 bits. */
  long hex(String name) {
    String text = text(name);
    try {
      return Long.parseUnsignedLong(text.substring(text.lastIndexOf('x') + 1), 16);
    } catch (NumberFormatException e) {
      throw damaged(name);
    }
  }

  String text(String name) {
    if (values.get(name) instanceof String value) {
      return value;
    }
    throw damaged(name);
  }

  /** Bytes as digits in hexadecimal. */
  byte[] bytes(String name) {
    try {
      return HexFormat.of().parseHex(text(name));
    } catch (IllegalArgumentException e) {
      throw damaged(name);
    }
  }

  private UnplayableException damaged(String name) {
    return new UnplayableException(
        "the trace is damaged in line %d: '%s' of a '%s' is missing or wrong; record it again"
            .formatted(number, name, kind));
  }
}
