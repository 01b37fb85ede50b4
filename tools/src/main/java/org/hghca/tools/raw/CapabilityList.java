package org.hghca.tools.raw;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.hghca.vfio.ConfigurationSpace;

/**
 * Where the capabilities of a function are in its configuration space (PCI Express Base
 * Specification, 7.5.1.1.11 and 7.6.3).
 */
public final class CapabilityList {
  private static final int STATUS = 0x06;
  private static final int STATUS_CAPABILITIES = 1 << 4;
  private static final int POINTER = 0x34;
  private static final int FIRST = 0x40;

  /** More do not fit; a longer list is circular. */
  private static final int MOST = 48;

  private static final int FIRST_EXTENDED = 0x100;
  private static final int HEADER_BYTES = 4;
  private static final int MOST_EXTENDED =
      (ConfigurationSpace.SIZE - FIRST_EXTENDED) / HEADER_BYTES;

  private CapabilityList() {}

  /** Whether a function has a list of capabilities. */
  public static boolean isThere(ConfigurationSpace space) {
    return (space.read(STATUS, 2) & STATUS_CAPABILITIES) != 0;
  }

  /** Offsets of the capabilities, in the order of their list; the id is the byte there. */
  public static List<Integer> of(ConfigurationSpace space) {
    List<Integer> offsets = new ArrayList<>();
    if (isThere(space)) {
      int at = space.read(POINTER, 1) & ~3;
      while (at >= FIRST && offsets.size() < MOST) {
        offsets.add(at);
        at = space.read(at + 1, 1) & ~3;
      }
    }
    return offsets;
  }

  /**
   * Offsets of the extended capabilities, in the order of their list; the id is the word there.
   * None where nothing answers.
   */
  public static List<Integer> extended(ConfigurationSpace space) {
    List<Integer> offsets = new ArrayList<>();
    int at = FIRST_EXTENDED;
    while (at >= FIRST_EXTENDED && offsets.size() < MOST_EXTENDED) {
      int header = space.read(at, HEADER_BYTES);
      if (header == 0 || header == -1) {
        break;
      }
      offsets.add(at);
      at = header >>> 20 & 0xffc;
    }
    return offsets;
  }

  /** Offset of the first capability with an id. */
  static OptionalInt find(ConfigurationSpace space, int id) {
    return first(space, of(space), 1, id);
  }

  /** Offset of the first extended capability with an id. */
  static OptionalInt findExtended(ConfigurationSpace space, int id) {
    return first(space, extended(space), 2, id);
  }

  private static OptionalInt first(
      ConfigurationSpace space, List<Integer> offsets, int width, int id) {
    return offsets.stream()
        .mapToInt(Integer::intValue)
        .filter(at -> space.read(at, width) == id)
        .findFirst();
  }
}
