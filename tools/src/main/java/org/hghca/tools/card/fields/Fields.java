package org.hghca.tools.card.fields;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/**
 * Values by name, in order. A value is a text, a number, a boolean, {@link Shown}, {@code Fields},
 * or a list of texts or of {@code Fields}. Mutable; one thread at a time.
 */
public final class Fields {
  private static final String INDENT = "  ";

  private final Map<String, Object> values = new LinkedHashMap<>();

  /** Adds a value, or replaces the one with its name. */
  public Fields put(String name, Object value) {
    values.put(name, value);
    return this;
  }

  /** Adds all values of others. */
  public Fields putAll(Fields others) {
    values.putAll(others.values);
    return this;
  }

  /** Whether there is a value of this name. */
  public boolean has(String name) {
    return values.containsKey(name);
  }

  /** The value of this name; null when there is none. */
  public Object get(String name) {
    return values.get(name);
  }

  /** How many values there are. */
  public int size() {
    return values.size();
  }

  /** Those that others do not have with the same value. */
  public Fields without(Fields others) {
    Fields rest = new Fields();
    values.forEach(
        (name, value) -> {
          if (!value.equals(others.values.get(name))) {
            rest.put(name, value);
          }
        });
    return rest;
  }

  /** A value as text on one line. */
  public static String text(Object value) {
    return String.join(" ", block(value));
  }

  /** Whether there is no value. */
  public boolean isEmpty() {
    return values.isEmpty();
  }

  /** The values as maps, lists, texts and numbers of JSON. */
  public Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    values.forEach((name, value) -> json.put(name, json(value)));
    return json;
  }

  private static Object json(Object value) {
    return switch (value) {
      case Fields fields -> fields.json();
      case Shown shown -> shown.json();
      case List<?> list -> list.stream().map(Fields::json).toList();
      default -> value;
    };
  }

  /** The values as text on one line. */
  public String line() {
    StringJoiner line = new StringJoiner(" ");
    values.forEach((name, value) -> line.add(name + "=" + text(value)));
    return line.toString();
  }

  /** The values as text: one a line, in columns, nested ones indented. */
  public List<String> lines() {
    int width = values.keySet().stream().mapToInt(String::length).max().orElse(0);
    List<String> lines = new ArrayList<>();
    values.forEach((name, value) -> add(lines, name, width, value));
    return lines;
  }

  private static void add(List<String> lines, String name, int width, Object value) {
    List<String> block = block(value);
    boolean inline = block.size() == 1 && !(value instanceof Fields) && !isOfFields(value);
    if (inline) {
      lines.add(("%-" + width + "s  %s").formatted(name, block.getFirst()));
    } else {
      lines.add(name);
      block.forEach(line -> lines.add(INDENT + line));
    }
  }

  private static boolean isOfFields(Object value) {
    return value instanceof List<?> list && list.stream().anyMatch(Fields.class::isInstance);
  }

  private static List<String> block(Object value) {
    return switch (value) {
      case Fields fields -> fields.lines();
      case Shown shown -> shown.text();
      case List<?> list when isOfFields(list) -> items(list);
      case List<?> list when list.isEmpty() -> List.of("none");
      case List<?> list -> List.of(String.join(", ", list.stream().map(Object::toString).toList()));
      case Boolean is -> List.of(is ? "yes" : "no");
      default -> List.of(value.toString());
    };
  }

  /** Each item begins with a dash. */
  private static List<String> items(List<?> list) {
    List<String> lines = new ArrayList<>();
    for (Object item : list) {
      List<String> block = block(item);
      for (int i = 0; i < block.size(); i++) {
        lines.add((i == 0 ? "- " : INDENT) + block.get(i));
      }
    }
    return lines;
  }
}
