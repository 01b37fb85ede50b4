package org.hghca.vfio.trace;

import java.util.Map;

/** One JSON object that grows; it has one line. */
final class JsonObject {
  private final StringBuilder text = new StringBuilder("{");

  /** Adds a number, or a string. */
  JsonObject put(String name, Object value) {
    begin(name);
    if (value instanceof Number) {
      text.append(value);
    } else {
      quote(value.toString());
    }
    return this;
  }

  /** Adds a whole number of thousandths. */
  JsonObject putThousandths(String name, long value) {
    begin(name);
    text.append(value / 1000).append('.').append("%03d".formatted(value % 1000));
    return this;
  }

  JsonObject put(String name, JsonObject value) {
    begin(name);
    text.append(value);
    return this;
  }

  JsonObject putAll(Map<String, Object> values) {
    values.forEach(this::put);
    return this;
  }

  private void begin(String name) {
    if (text.length() > 1) {
      text.append(',');
    }
    quote(name);
    text.append(':');
  }

  private void quote(String string) {
    text.append('"');
    for (int i = 0; i < string.length(); i++) {
      char c = string.charAt(i);
      if (c == '"' || c == '\\') {
        text.append('\\').append(c);
      } else if (c < ' ') {
        text.append("\\u%04x".formatted((int) c));
      } else {
        text.append(c);
      }
    }
    text.append('"');
  }

  /** The text. */
  @Override
  public String toString() {
    return text + "}";
  }
}
