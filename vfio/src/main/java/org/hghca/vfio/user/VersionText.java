package org.hghca.vfio.user;

import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.hghca.vfio.user.UserStructures.Version;

/**
 * The text in a {@code VERSION} message: text of JSON that ends with a NUL, or nothing. Every name
 * of the protocol must have the protocol's type, used here or not; other names are allowed and
 * ignored.
 */
final class VersionText {
  static final String DESCRIPTORS = "max_msg_fds";
  static final String TRANSFER = "max_data_xfer_size";
  static final String PAGE_SIZES = "pgsizes";
  static final String WRITE_MULTIPLE = "write_multiple";

  /** Of this project: that an end knows of {@link RegisterRing}. */
  static final String REGISTER_RING = "hghca_register_ring";

  /** Of this project: that a client knows the reply of {@link Busy}. */
  static final String BUSY = "hghca_busy";

  private static final Map<String, Class<?>> TYPES =
      Map.of(
          DESCRIPTORS,
          Long.class,
          TRANSFER,
          Long.class,
          PAGE_SIZES,
          Long.class,
          "max_dma_maps",
          Long.class,
          WRITE_MULTIPLE,
          Boolean.class,
          "migration",
          Map.class,
          "twin_socket",
          Map.class);

  private static final Map<String, Class<?>> MIGRATION =
      Map.of("pgsize", Long.class, "max_bitmap_size", Long.class);

  private static final Map<String, Class<?>> TWIN_SOCKET =
      Map.of("supported", Boolean.class, "fd_index", Long.class);

  private final Map<?, ?> capabilities;

  private VersionText(Map<?, ?> capabilities) {
    this.capabilities = capabilities;
  }

  /**
   * Reads a message that has the version's numbers at least.
   *
   * @throws IllegalArgumentException with the error in its text
   */
  static VersionText of(UserMessage version) {
    int bytes = version.payloadBytes() - Version.DATA;
    if (bytes == 0) {
      return new VersionText(Map.of());
    }
    if (version.getByte(version.payloadBytes() - 1) != 0) {
      throw new IllegalArgumentException("a text without a NUL at its end");
    }
    byte[] text =
        version
            .memory()
            .asSlice(UserMessage.HEADER_BYTES + (long) Version.DATA, bytes)
            .toArray(ValueLayout.JAVA_BYTE);
    int end = 0;
    while (text[end] != 0) {
      end++;
    }
    if (!(Json.parse(new String(text, 0, end, StandardCharsets.UTF_8)) instanceof Map<?, ?> all)) {
      throw new IllegalArgumentException("a text that is no object");
    }
    Map<?, ?> capabilities = object(all, "capabilities");
    checkTypes(capabilities, TYPES);
    checkTypes(object(capabilities, "migration"), MIGRATION);
    checkTypes(object(capabilities, "twin_socket"), TWIN_SOCKET);
    return new VersionText(capabilities);
  }

  /** An object's member that is an object; an empty one where there is none. */
  private static Map<?, ?> object(Map<?, ?> of, String name) {
    if (!of.containsKey(name)) {
      return Map.of();
    }
    if (of.get(name) instanceof Map<?, ?> members) {
      return members;
    }
    throw wrongType(name, of.get(name));
  }

  private static void checkTypes(Map<?, ?> members, Map<String, Class<?>> types) {
    types.forEach(
        (name, type) -> {
          if (members.containsKey(name) && !type.isInstance(members.get(name))) {
            throw wrongType(name, members.get(name));
          }
        });
  }

  private static IllegalArgumentException wrongType(String name, Object value) {
    return new IllegalArgumentException(
        "%s is %s, which has the wrong type".formatted(name, value));
  }

  /** A number by its name. */
  long number(String name, long otherwise) {
    return capabilities.get(name) instanceof Long number ? number : otherwise;
  }

  /** Whether a name stands for true. */
  boolean isSet(String name) {
    return Boolean.TRUE.equals(capabilities.get(name));
  }
}
