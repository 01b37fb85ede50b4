package org.hghca.programs;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.UncheckedIOException;

/** The JSON of values: of maps, lists, texts and numbers. */
public final class Json {
  private Json() {}

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
