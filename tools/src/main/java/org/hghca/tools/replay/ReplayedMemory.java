package org.hghca.tools.replay;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.PciFunction;

/** All memory of a replay, by its bus addresses in the recorded run. One thread at a time. */
final class ReplayedMemory {
  private final Map<Long, ReplayedMapping> mappings = new HashMap<>();

  /** A place in memory. */
  record Place(ReplayedMapping mapping, long offset) {
    /** The bus address on the other card. */
    long iova() {
      return mapping.iova(offset);
    }
  }

  /** Plays a line about memory. */
  void map(TraceLine line, PciFunction function) {
    mappings.put(line.number("map"), ReplayedMapping.of(line, function));
  }

  /** The line takes a mapping back. */
  void unmap(TraceLine line) {
    mapping(line).close();
    mappings.remove(line.number("map"));
  }

  /** The line says what has changed. */
  void changed(TraceLine line) {
    mapping(line).changed(line.number("offset"), line.bytes("bytes"));
  }

  private ReplayedMapping mapping(TraceLine line) {
    ReplayedMapping mapping = mappings.get(line.number("map"));
    if (mapping == null) {
      throw new UnplayableException(
          "the trace is damaged in line %d: there is no mapping %d; record it again"
              .formatted(line.number(), line.number("map")));
    }
    return mapping;
  }

  /** The memory at a bus address of the recorded run; empty when nothing was mapped there. */
  Optional<Place> at(long iova) {
    for (ReplayedMapping mapping : mappings.values()) {
      OptionalLong offset = mapping.offset(iova);
      if (offset.isPresent()) {
        return Optional.of(new Place(mapping, offset.getAsLong()));
      }
    }
    return Optional.empty();
  }

  /**
   * The bus address on the other card. One that reached no memory in the recorded run stays, since
   * it is to reach none.
   *
   * @throws UnplayableException when it would reach some
   */
  long translate(long iova) {
    Optional<Place> place = at(iova);
    if (place.isPresent()) {
      return place.get().iova();
    }
    if (mappings.values().stream().anyMatch(mapping -> mapping.isAt(iova))) {
      throw new UnplayableException(
          "bus address 0x%x reached no memory in the trace, and does on this card: close what else uses it"
              .formatted(iova));
    }
    return iova;
  }

  /**
   * The same, of pages in one piece.
   *
   * @throws UnplayableException when they are not in one piece on the other card
   */
  long translate(long iova, int pages) {
    long first = translate(iova);
    for (int page = 1; page < pages; page++) {
      long offset = (long) page * DmaMapping.PAGE_SIZE;
      if (translate(iova + offset) != first + offset) {
        throw new UnplayableException(
            "%d pages of ICM are in one piece in the trace, and not on this card: it needs an IOMMU"
                .formatted(pages));
      }
    }
    return first;
  }

  /** The card was reset: it owns no memory any more. */
  void releaseAll() {
    mappings.values().forEach(ReplayedMapping::releaseAll);
  }

  /** Unmaps all memory. */
  void clear() {
    mappings.values().forEach(ReplayedMapping::close);
    mappings.clear();
  }
}
