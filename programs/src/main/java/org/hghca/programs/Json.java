package org.hghca.programs;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** The JSON of values: of maps, lists, texts and numbers. */
public final class Json {
  /**
   * Of what commands print, except bringup, which has its own: it grows when a key is removed or
   * changes its meaning, and not when one is added.
   */
  private static final int SCHEMA_VERSION = 1;

  private static final String SCHEMA = "schema_version";

  private Json() {}

  /**
   * What a command prints with {@code --json}: an object of several lines that begins with the
   * version of its schema, unless it has one of its own.
   */
  public static String document(Map<String, ?> value) {
    return pretty(versioned(value));
  }

  /** As {@link #document}, in one line: of a command that prints any number of them. */
  public static String record(Map<String, ?> value) {
    return line(versioned(value));
  }

  private static Map<String, Object> versioned(Map<String, ?> value) {
    Map<String, Object> versioned = new LinkedHashMap<>();
    versioned.put(SCHEMA, SCHEMA_VERSION);
    versioned.putAll(value);
    return versioned;
  }

  /** With a line for each value. */
  public static String pretty(Object value) {
    return text(JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT), value);
  }

  /** In one line. */
  public static String line(Object value) {
    return text(JSON.std, value);
  }

  private static String text(JSON writer, Object value) {
    try {
      return writer.asString(value);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // it writes to memory
    }
  }
}
