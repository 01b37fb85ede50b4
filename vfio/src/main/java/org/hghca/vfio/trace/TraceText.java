package org.hghca.vfio.trace;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A record in words.
 *
 * @param track where it stands in a time line, such as {@code QP 0x5}
 * @param title in the time line
 * @param values its numbers by name: {@link Integer}, {@link Long} or {@link String}, in their
 *     order
 */
public record TraceText(String track, String title, Map<String, Object> values) {

  /** Without values yet. */
  public static TraceText of(String track, String title) {
    return new TraceText(track, title, new LinkedHashMap<>());
  }

  /** With one more value. */
  public TraceText with(String name, Object value) {
    values.put(name, value);
    return this;
  }

  /** With one more value, in hexadecimal. */
  public TraceText withHex(String name, long value) {
    return with(name, hex(value));
  }

  /** A number of 32 bits or more, as documents of hardware write it. */
  public static String hex(long value) {
    return "0x" + Long.toHexString(value);
  }
}
