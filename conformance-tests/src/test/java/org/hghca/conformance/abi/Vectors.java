package org.hghca.conformance.abi;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;

/** The recorded measurements under {@code vectors}, as lists, maps and strings. */
final class Vectors {
  private Vectors() {}

  /** The elements of the array that a file holds. */
  static List<Object> load(String file) {
    try (InputStream in = Vectors.class.getResourceAsStream("/vectors/" + file)) {
      return JSON.std.listOfFrom(Object.class, in);
    } catch (IOException e) {
      throw new UncheckedIOException(file, e);
    }
  }

  static List<Map<?, ?>> loadObjects(String file) {
    return load(file).stream().<Map<?, ?>>map(element -> (Map<?, ?>) element).toList();
  }

  static List<?> list(Object value) {
    return (List<?>) value;
  }

  static String text(Map<?, ?> object, String key) {
    return (String) object.get(key);
  }

  static int number(String hex) {
    return Integer.parseUnsignedInt(hex, 16);
  }

  static long longNumber(String hex) {
    return Long.parseUnsignedLong(hex, 16);
  }
}
