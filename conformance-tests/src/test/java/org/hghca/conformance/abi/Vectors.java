package org.hghca.conformance.abi;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;

/** The recorded measurements under {@code vectors}, as lists, maps and strings. */
public final class Vectors {
  private Vectors() {}

  /** The elements of the array that a file holds. */
  public static List<Object> load(String file) {
    try (InputStream in = Vectors.class.getResourceAsStream("/vectors/" + file)) {
      return JSON.std.listOfFrom(Object.class, in);
    } catch (IOException e) {
      throw new UncheckedIOException(file, e);
    }
  }

  public static List<Map<?, ?>> loadObjects(String file) {
    return load(file).stream().<Map<?, ?>>map(element -> (Map<?, ?>) element).toList();
  }

  /** The object that a file holds. */
  public static Map<?, ?> loadObject(String file) {
    try (InputStream in = Vectors.class.getResourceAsStream("/vectors/" + file)) {
      return JSON.std.mapFrom(in);
    } catch (IOException e) {
      throw new UncheckedIOException(file, e);
    }
  }

  public static List<?> list(Object value) {
    return (List<?>) value;
  }

  public static String text(Map<?, ?> object, String key) {
    return (String) object.get(key);
  }

  public static int number(String hex) {
    return Integer.parseUnsignedInt(hex, 16);
  }

  public static long longNumber(String hex) {
    return Long.parseUnsignedLong(hex, 16);
  }
}
