package org.hghca.vfio.user;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads one JSON text (RFC 8259). Objects are {@link Map}, arrays {@link List}, strings {@link
 * String}, true and false {@link Boolean}, whole numbers {@link Long}, those beyond its range the
 * nearest one, other numbers {@link Double}, and null is null. If a name occurs twice, the last one
 * counts.
 */
final class Json {
  /** The maximum nesting depth of objects and arrays. */
  private static final int MOST_DEPTH = 32;

  private static final Pattern NUMBER =
      Pattern.compile("(-?(?:0|[1-9][0-9]*))(\\.[0-9]+)?([eE][-+]?[0-9]+)?");
  private static final Pattern HEX = Pattern.compile("[0-9a-fA-F]{4}");
  private static final String ESCAPES = "\"\\/bfnrt";
  private static final String ESCAPED = "\"\\/\b\f\n\r\t";

  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  /**
   * Reads a text that consists of one value.
   *
   * @throws IllegalArgumentException saying where it is no JSON
   */
  static Object parse(String text) {
    Json json = new Json(text);
    Object value = json.value(0);
    json.skipSpace();
    if (json.at < text.length()) {
      throw json.wrong();
    }
    return value;
  }

  private IllegalArgumentException wrong() {
    return new IllegalArgumentException("no JSON at character %d".formatted(at));
  }

  private void skipSpace() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  /** Whether a character comes next; if so, consumes it. */
  private boolean passed(char wanted) {
    skipSpace();
    if (at < text.length() && text.charAt(at) == wanted) {
      at++;
      return true;
    }
    return false;
  }

  private void pass(char wanted) {
    if (!passed(wanted)) {
      throw wrong();
    }
  }

  private Object value(int depth) {
    if (depth > MOST_DEPTH) {
      throw wrong();
    }
    if (passed('{')) {
      return object(depth);
    }
    if (passed('[')) {
      return array(depth);
    }
    if (passed('"')) {
      return string();
    }
    if (word("true")) {
      return true;
    }
    if (word("false")) {
      return false;
    }
    if (word("null")) {
      return null;
    }
    return number();
  }

  private boolean word(String word) {
    if (!text.startsWith(word, at)) {
      return false;
    }
    at += word.length();
    return true;
  }

  private Map<String, Object> object(int depth) {
    Map<String, Object> members = new HashMap<>();
    if (passed('}')) {
      return members;
    }
    do {
      pass('"');
      String name = string();
      pass(':');
      members.put(name, value(depth + 1));
    } while (passed(','));
    pass('}');
    return members;
  }

  private List<Object> array(int depth) {
    List<Object> elements = new ArrayList<>();
    if (passed(']')) {
      return elements;
    }
    do {
      elements.add(value(depth + 1));
    } while (passed(','));
    pass(']');
    return elements;
  }

  /** The text after an opening quotation mark. */
  private String string() {
    StringBuilder string = new StringBuilder();
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c == '"') {
        return string.toString();
      }
      if (c < ' ') {
        break;
      }
      string.append(c == '\\' ? escaped() : c);
    }
    throw wrong();
  }

  private char escaped() {
    if (at < text.length()) {
      char c = text.charAt(at++);
      int known = ESCAPES.indexOf(c);
      if (known >= 0) {
        return ESCAPED.charAt(known);
      }
      Matcher digits = HEX.matcher(text).region(at, text.length());
      if (c == 'u' && digits.lookingAt()) {
        at += 4;
        return (char) Integer.parseInt(digits.group(), 16);
      }
    }
    throw wrong();
  }

  private Number number() {
    Matcher number = NUMBER.matcher(text).region(at, text.length());
    if (!number.lookingAt()) {
      throw wrong();
    }
    at = number.end();
    if (number.group(2) != null || number.group(3) != null) {
      return Double.valueOf(number.group());
    }
    try {
      return Long.valueOf(number.group());
    } catch (NumberFormatException e) {
      return number.group().startsWith("-") ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
  }
}
