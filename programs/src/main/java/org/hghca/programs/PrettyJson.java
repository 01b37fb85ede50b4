package org.hghca.programs;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.UncheckedIOException;

/** JSON with a line for each value. */
public final class PrettyJson {
  private PrettyJson() {}

  /** The text of a value: of maps, lists, texts and numbers. */
  public static String of(Object value) {
    try {
      return JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(value);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // it writes to memory
    }
  }
}
