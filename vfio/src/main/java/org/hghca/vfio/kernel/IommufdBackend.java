package org.hghca.vfio.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.hghca.vfio.kernel.IommufdAbi.SIZE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.dma.DmaBackend;
import org.hghca.vfio.dma.IovaRange;

/** An I/O address space (IOAS) of the kernel's iommufd. Thread-safe. */
final class IommufdBackend implements DmaBackend {
  private static final int USUAL_RANGES = 8;
  private static final int MOST_RANGES = 1 << 16;

  private final SystemCalls calls;
  private final int iommufd;
  private final int ioas;
  private final MapFailure failure;

  IommufdBackend(SystemCalls calls, int iommufd, int ioas, MapFailure failure) {
    this.calls = calls;
    this.iommufd = iommufd;
    this.ioas = ioas;
    this.failure = failure;
  }

  /** The ranges that all attached functions can access. */
  @Override
  public List<IovaRange> ranges() {
    int room = USUAL_RANGES;
    while (true) {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment list =
            arena.allocate((long) room * IommufdAbi.IovaRanges.RANGE_BYTES, Long.BYTES);
        MemorySegment request = request(arena, IommufdAbi.IovaRanges.BYTES);
        request.set(JAVA_INT, IommufdAbi.IovaRanges.IOAS_ID, ioas);
        request.set(JAVA_INT, IommufdAbi.IovaRanges.NUM_IOVAS, room);
        request.set(JAVA_LONG, IommufdAbi.IovaRanges.ALLOWED_IOVAS, list.address());
        int answer = calls.ioctl(iommufd, IommufdAbi.IOAS_IOVA_RANGES, request);
        int count = request.get(JAVA_INT, IommufdAbi.IovaRanges.NUM_IOVAS);
        if (LinuxErrno.EMSGSIZE.is(answer) && count > room && count <= MOST_RANGES) {
          room = count;
          continue;
        }
        KernelErrors.checked(answer, "cannot query the ranges of /dev/iommu");
        long alignment = request.get(JAVA_LONG, IommufdAbi.IovaRanges.OUT_IOVA_ALIGNMENT);
        if (Long.compareUnsigned(alignment, DmaMapping.PAGE_SIZE) > 0) {
          throw new VfioException(
              Reason.UNSUPPORTED,
              "the IOMMU takes pages of 0x%x bytes, not of 4 KiB, which hghca needs"
                  .formatted(alignment));
        }
        return ranges(list, Math.min(count, room));
      }
    }
  }

  private static List<IovaRange> ranges(MemorySegment list, int count) {
    List<IovaRange> ranges = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ranges.add(
          new IovaRange(
              list.getAtIndex(JAVA_LONG, 2L * i), list.getAtIndex(JAVA_LONG, 2L * i + 1)));
    }
    return List.copyOf(ranges);
  }

  @Override
  public boolean pinsPages() {
    return true;
  }

  @Override
  public void map(MemorySegment memory, long address, long bytes, long iova, DmaAccess access) {
    int answer;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment request = request(arena, IommufdAbi.IoasMap.BYTES);
      request.set(
          JAVA_INT,
          IommufdAbi.IoasMap.FLAGS,
          IommufdAbi.IoasMap.FIXED_IOVA
              | (access.readable() ? IommufdAbi.IoasMap.READABLE : 0)
              | (access.writable() ? IommufdAbi.IoasMap.WRITEABLE : 0));
      request.set(JAVA_INT, IommufdAbi.IoasMap.IOAS_ID, ioas);
      request.set(JAVA_LONG, IommufdAbi.IoasMap.USER_VA, address);
      request.set(JAVA_LONG, IommufdAbi.IoasMap.LENGTH, bytes);
      request.set(JAVA_LONG, IommufdAbi.IoasMap.IOVA, iova);
      answer = calls.ioctl(iommufd, IommufdAbi.IOAS_MAP, request);
    }
    if (answer < 0) {
      throw failure.of(answer, bytes, iova, access, OptionalLong.empty());
    }
  }

  @Override
  public void unmap(long iova, long bytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment request = request(arena, IommufdAbi.IoasUnmap.BYTES);
      request.set(JAVA_INT, IommufdAbi.IoasUnmap.IOAS_ID, ioas);
      request.set(JAVA_LONG, IommufdAbi.IoasUnmap.IOVA, iova);
      request.set(JAVA_LONG, IommufdAbi.IoasUnmap.LENGTH, bytes);
      KernelErrors.checked(
          calls.ioctl(iommufd, IommufdAbi.IOAS_UNMAP, request),
          "cannot unmap 0x%x bytes from I/O address 0x%x".formatted(bytes, iova));
    }
  }

  private static MemorySegment request(Arena arena, int bytes) {
    MemorySegment request = arena.allocate(bytes, Long.BYTES);
    request.set(JAVA_INT, SIZE, bytes);
    return request;
  }
}
