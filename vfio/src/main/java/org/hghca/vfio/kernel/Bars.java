package org.hghca.vfio.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.kernel.RegionInfo.Area;

/**
 * The registers of a function behind its base address registers, each mapped on first use:
 * completely, or in the parts that the kernel allows to be mapped, with read and write calls for
 * the rest. After the function is lost, or after close, reads return all ones and writes are
 * dropped. Thread-safe.
 */
final class Bars implements AutoCloseable {
  private static final ConditionLog LOG = ConditionLog.of(Bars.class);
  private static final int COUNT = 6;

  private final SystemCalls calls;
  private final DeviceFile device;
  private final Locator locator;
  private final KernelRelease release;
  private final List<RegionInfo> infos;
  private final MmioRegion[] regions = new MmioRegion[COUNT];

  /** Lifetime of the mapped parts: a later access gets an error and does not crash. */
  private final Arena arena = Arena.ofShared();

  /** What was mapped when the function was lost: the addresses are kept until the close. */
  private final List<MemorySegment> kept = new ArrayList<>();

  private boolean lost;
  private volatile boolean closed;

  Bars(SystemCalls calls, DeviceFile device, Locator locator, KernelRelease release) {
    this.calls = calls;
    this.device = device;
    this.locator = locator;
    this.release = release;
    this.infos = IntStream.range(0, COUNT).mapToObj(bar -> RegionInfo.of(device, bar)).toList();
  }

  /**
   * The registers of a BAR.
   *
   * @throws VfioException {@code INVALID} when the function has none
   */
  synchronized MmioRegion region(int bar) {
    if (bar < 0 || bar >= COUNT) {
      throw none(bar);
    }
    if (regions[bar] == null) {
      regions[bar] = open(bar);
    }
    return regions[bar];
  }

  private VfioException none(int bar) {
    return new VfioException(Reason.INVALID, "%s has no BAR%d".formatted(locator, bar));
  }

  private MmioRegion open(int bar) {
    RegionInfo info = infos.get(bar);
    if (info.size() == 0) {
      throw none(bar);
    }
    MmioHandler beyond = new Calls(info.offset(), bar);
    List<Part> parts = new ArrayList<>();
    MemorySegment first = null;
    for (Area area : closed ? List.<Area>of() : info.mappable()) {
      MemorySegment memory = map(info, area, bar);
      if (memory != null) {
        MmioHandler afterwards = new Calls(info.offset() + area.start(), bar);
        parts.add(new Part(area, MmioRegion.mapped(memory, area.size(), afterwards)));
        first = area.start() == 0 ? memory : first;
      }
    }
    if (parts.size() > (first == null ? 0 : 1)) {
      beyond = new Mixed(List.copyOf(parts), beyond);
    }
    if (first == null) {
      LOG.debug(About.device(locator), "BAR{} is accessed by system calls", bar);
      return MmioRegion.trapped(info.size(), beyond);
    }
    return MmioRegion.mapped(first, info.size(), beyond);
  }

  /** A part of a region, or null where the kernel does not map it. */
  @SuppressWarnings("restricted")
  private MemorySegment map(RegionInfo info, Area area, int bar) {
    long address = device.mmap(info.offset() + area.start(), area.size());
    if (address < 0) {
      LOG.warn(
          About.device(locator),
          "BAR{} cannot be mapped at 0x{}, each access is a system call: {}",
          bar,
          Long.toHexString(area.start()),
          LinuxErrno.describe(address));
      return null;
    }
    return MemorySegment.ofAddress(address).reinterpret(area.size(), arena, this::end);
  }

  private void end(MemorySegment memory) {
    if (lost) {
      replace(memory);
    } else {
      unmap(memory);
    }
  }

  /**
   * The kernel gets the registers back, and a doorbell that is on its way to them, by address,
   * finds memory that nobody reads.
   */
  private void replace(MemorySegment memory) {
    kept.add(memory);
    long address =
        calls.mmapInPlace(memory.address(), memory.byteSize(), DeviceFile.PROT_READ_WRITE);
    if (address < 0) {
      LOG.warn(
          About.device(locator),
          "its registers stay mapped until it is closed, and its removal waits for that: no memory"
              + " could take their place: {}",
          LinuxErrno.describe(address));
    }
  }

  private void unmap(MemorySegment memory) {
    int _ = calls.munmap(memory.address(), memory.byteSize());
  }

  /**
   * The function is lost: its registers are unmapped at once, since its removal waits for that.
   * Their addresses are kept until the close.
   */
  synchronized void lose() {
    lost = true;
    endAll();
  }

  @Override
  public synchronized void close() {
    endAll();
    kept.forEach(this::unmap);
    kept.clear();
  }

  private void endAll() {
    if (!closed) {
      closed = true;
      arena.close();
    }
  }

  /** A mapped part of a region, with the system calls to use once it is unmapped. */
  private record Part(Area area, MmioRegion registers) {}

  /** Accesses by system calls. */
  private final class Calls implements MmioHandler {
    private final long base;
    private final int bar;

    /**
     * Calls for a part of a region.
     *
     * @param base where it lies in the descriptor's file
     */
    Calls(long base, int bar) {
      this.base = base;
      this.bar = bar;
    }

    @Override
    public long read(long offset, int width) {
      if (closed) {
        return -1L >>> 64 - 8 * width;
      }
      checkWidth(width);
      return device.read(base + offset, width);
    }

    @Override
    public void write(long offset, int width, long value) {
      if (!closed) {
        checkWidth(width);
        device.write(base + offset, width, value);
      }
    }

    private void checkWidth(int width) {
      if (width == Long.BYTES && !release.hasWideAccess()) {
        throw new VfioException(
            Reason.UNSUPPORTED,
            ("%s: BAR%d cannot be mapped here, and Linux %s splits an access of 8 bytes into two of"
                    + " 4, which breaks doorbells: use %s")
                .formatted(locator, bar, release, KernelRelease.WITH_WIDE_ACCESS));
      }
    }
  }

  /** Accesses to the part that is mapped, or by system calls. */
  private record Mixed(List<Part> parts, MmioHandler calls) implements MmioHandler {
    @Override
    public long read(long offset, int width) {
      for (Part part : parts) {
        if (part.area.holds(offset, width)) {
          return part.registers.read(offset - part.area.start(), width);
        }
      }
      return calls.read(offset, width);
    }

    @Override
    public void write(long offset, int width, long value) {
      for (Part part : parts) {
        if (part.area.holds(offset, width)) {
          part.registers.write(offset - part.area.start(), width, value);
          return;
        }
      }
      calls.write(offset, width, value);
    }
  }
}
