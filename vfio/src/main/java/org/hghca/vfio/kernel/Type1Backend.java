package org.hghca.vfio.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.hghca.vfio.kernel.VfioAbi.ARGSZ;
import static org.hghca.vfio.kernel.VfioAbi.FLAGS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.dma.DmaBackend;
import org.hghca.vfio.dma.IovaRange;

/** The I/O page table of a container of the kernel's type 1. Thread-safe. */
final class Type1Backend implements DmaBackend {
  /**
   * Ranges that kernels before 5.4 do not report: the addresses that every IOMMU of a PC supports,
   * without the interrupt addresses.
   */
  private static final List<IovaRange> UNTOLD =
      List.of(new IovaRange(0, 0xfedf_ffffL), new IovaRange(0xfef0_0000L, (1L << 39) - 1));

  private final SystemCalls calls;
  private final int container;
  private final MapFailure failure;

  /**
   * The table of a container that has its IOMMU.
   *
   * @throws VfioException {@code UNSUPPORTED} when it does not support pages of 4 KiB
   */
  Type1Backend(SystemCalls calls, int container, MapFailure failure) {
    this.calls = calls;
    this.container = container;
    this.failure = failure;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = info(arena);
      long sizes = info.get(JAVA_LONG, VfioAbi.Type1Info.IOVA_PGSIZES);
      if ((info.get(JAVA_INT, FLAGS) & VfioAbi.Type1Info.PGSIZES) != 0
          && (sizes & DmaMapping.PAGE_SIZE) == 0) {
        throw new VfioException(
            Reason.UNSUPPORTED,
            "the IOMMU takes pages of sizes 0x%x, not of 4 KiB, which hghca needs"
                .formatted(sizes));
      }
    }
  }

  @Override
  public List<IovaRange> ranges() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = info(arena);
      return InfoCapabilities.find(info, capabilities(info), VfioAbi.IovaRanges.ID)
          .map(Type1Backend::ranges)
          .orElse(UNTOLD);
    }
  }

  private static List<IovaRange> ranges(MemorySegment capability) {
    int count =
        InfoCapabilities.entries(
            capability,
            VfioAbi.IovaRanges.NR_IOVAS,
            VfioAbi.IovaRanges.RANGES,
            VfioAbi.IovaRanges.RANGE_SIZE);
    List<IovaRange> ranges = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long at = VfioAbi.IovaRanges.RANGES + (long) i * VfioAbi.IovaRanges.RANGE_SIZE;
      ranges.add(
          new IovaRange(
              capability.get(JAVA_LONG_UNALIGNED, at),
              capability.get(JAVA_LONG_UNALIGNED, at + 8)));
    }
    return List.copyOf(ranges);
  }

  /**
   * How many more mappings the kernel accepts; empty before Linux 5.10, which does not report it.
   */
  private OptionalLong mappingsLeft() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = info(arena);
      return InfoCapabilities.find(info, capabilities(info), VfioAbi.DmaAvail.ID)
          .filter(capability -> capability.byteSize() >= VfioAbi.DmaAvail.AVAIL + 4)
          .map(
              capability ->
                  OptionalLong.of(
                      Integer.toUnsignedLong(
                          capability.get(JAVA_INT_UNALIGNED, VfioAbi.DmaAvail.AVAIL))))
          .orElse(OptionalLong.empty());
    }
  }

  private static int capabilities(MemorySegment info) {
    return (info.get(JAVA_INT, FLAGS) & VfioAbi.Type1Info.CAPS) != 0
        ? info.get(JAVA_INT, VfioAbi.Type1Info.CAP_OFFSET)
        : 0;
  }

  private MemorySegment info(Arena arena) {
    return InfoCall.ask(
        arena,
        structure -> calls.ioctl(container, VfioAbi.IOMMU_GET_INFO, structure),
        VfioAbi.Type1Info.SIZE,
        "cannot query the IOMMU of the container");
  }

  @Override
  public boolean pinsPages() {
    return true;
  }

  @Override
  public void map(MemorySegment memory, long address, long bytes, long iova, DmaAccess access) {
    int answer;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment request = arena.allocate(VfioAbi.DmaMap.SIZE, Long.BYTES);
      request.set(JAVA_INT, ARGSZ, VfioAbi.DmaMap.SIZE);
      request.set(
          JAVA_INT,
          FLAGS,
          (access.readable() ? VfioAbi.DmaMap.READ : 0)
              | (access.writable() ? VfioAbi.DmaMap.WRITE : 0));
      request.set(JAVA_LONG, VfioAbi.DmaMap.VADDR, address);
      request.set(JAVA_LONG, VfioAbi.DmaMap.IOVA, iova);
      request.set(JAVA_LONG, VfioAbi.DmaMap.LENGTH, bytes);
      answer = calls.ioctl(container, VfioAbi.IOMMU_MAP_DMA, request);
    }
    if (answer < 0) {
      throw failure.of(answer, bytes, iova, access, mappingsLeft());
    }
  }

  @Override
  public void unmap(long iova, long bytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment request = arena.allocate(VfioAbi.DmaUnmap.SIZE, Long.BYTES);
      request.set(JAVA_INT, ARGSZ, VfioAbi.DmaUnmap.SIZE);
      request.set(JAVA_LONG, VfioAbi.DmaUnmap.IOVA, iova);
      request.set(JAVA_LONG, VfioAbi.DmaUnmap.LENGTH, bytes);
      KernelErrors.checked(
          calls.ioctl(container, VfioAbi.IOMMU_UNMAP_DMA, request),
          "cannot unmap 0x%x bytes from I/O address 0x%x".formatted(bytes, iova));
    }
  }
}
