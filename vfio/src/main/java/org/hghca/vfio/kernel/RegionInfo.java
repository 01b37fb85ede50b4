package org.hghca.vfio.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.hghca.vfio.DmaMapping;

/**
 * A region of a function, as the kernel reports it.
 *
 * @param offset its position in the descriptor's file
 * @param size bytes; 0 when the function has no such region
 * @param mappable the parts of it that may be mapped, ascending
 */
record RegionInfo(long offset, long size, List<Area> mappable) {

  /**
   * A part of a region.
   *
   * @param start from the start of the region, on a page
   * @param size bytes, whole pages
   */
  record Area(long start, long size) {
    boolean holds(long offset, int width) {
      return offset >= start && offset - start <= size - width;
    }
  }

  RegionInfo {
    mappable = List.copyOf(mappable);
  }

  /** Asks for a region. */
  static RegionInfo of(DeviceFile device, int index) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info =
          InfoCall.ask(
              arena,
              structure -> device.ioctl(VfioAbi.DEVICE_GET_REGION_INFO, structure),
              VfioAbi.RegionInfo.SIZE,
              structure -> structure.set(JAVA_INT, VfioAbi.RegionInfo.INDEX, index),
              "cannot query region " + index);
      long size = info.get(JAVA_LONG, VfioAbi.RegionInfo.REGION_SIZE);
      return new RegionInfo(
          info.get(JAVA_LONG, VfioAbi.RegionInfo.OFFSET), size, mappable(info, size));
    }
  }

  private static List<Area> mappable(MemorySegment info, long size) {
    int flags = info.get(JAVA_INT, VfioAbi.FLAGS);
    if ((flags & VfioAbi.RegionInfo.MMAP) == 0) {
      return List.of();
    }
    Optional<MemorySegment> sparse =
        (flags & VfioAbi.RegionInfo.CAPS) == 0
            ? Optional.empty()
            : InfoCapabilities.find(
                info, info.get(JAVA_INT, VfioAbi.RegionInfo.CAP_OFFSET), VfioAbi.SparseMmap.ID);
    // Without the capability all of it may be mapped.
    return sparse.map(capability -> areas(capability, size)).orElse(List.of(new Area(0, size)));
  }

  private static List<Area> areas(MemorySegment capability, long size) {
    int count =
        InfoCapabilities.entries(
            capability,
            VfioAbi.SparseMmap.NR_AREAS,
            VfioAbi.SparseMmap.AREAS,
            VfioAbi.SparseMmap.AREA_SIZE);
    List<Area> areas = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long at = VfioAbi.SparseMmap.AREAS + (long) i * VfioAbi.SparseMmap.AREA_SIZE;
      long start = capability.get(JAVA_LONG_UNALIGNED, at);
      long length = capability.get(JAVA_LONG_UNALIGNED, at + 8);
      boolean inside = start >= 0 && length > 0 && start <= size - length;
      if (inside && start % DmaMapping.PAGE_SIZE == 0) {
        areas.add(new Area(start, length));
      }
    }
    areas.sort((one, other) -> Long.compare(one.start, other.start));
    return areas;
  }
}
