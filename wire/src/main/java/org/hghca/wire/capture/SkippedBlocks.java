package org.hghca.wire.capture;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** How many blocks of a capture are not known, by their type. */
public final class SkippedBlocks {
  /** The most types that are counted apart: a file may hold any number of them. */
  private static final int MOST_TYPES = 16;

  private final Map<Integer, Long> byType = new TreeMap<>(Integer::compareUnsigned);
  private long others;

  SkippedBlocks() {}

  void count(int type) {
    if (byType.size() < MOST_TYPES || byType.containsKey(type)) {
      byType.merge(type, 1L, Long::sum);
    } else {
      others++;
    }
  }

  /** Their number. */
  public long total() {
    return byType.values().stream().mapToLong(Long::longValue).sum() + others;
  }

  /** The types with their counts, such as {@code 3 of type 0x00000bad}. */
  @Override
  public String toString() {
    String types =
        byType.entrySet().stream()
            .map(entry -> "%d of type 0x%08x".formatted(entry.getValue(), entry.getKey()))
            .collect(Collectors.joining(", "));
    return others == 0 ? types : "%s, %d of other types".formatted(types, others);
  }
}
