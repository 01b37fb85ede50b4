package org.hghca.vfio.user;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.hghca.linux.SystemCalls;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.user.RegionDescription.Area;

/**
 * Registers behind a socket: each access is one message, unless it hits an area that is mapped. All
 * messages of a function use one socket, so that the server sees the accesses in order.
 */
final class UserRegion implements MmioHandler {
  private static final ConditionLog LOG = ConditionLog.of(UserRegion.class);

  private static final int PROT_READ = 1;
  private static final int PROT_WRITE = 2;
  private static final int MAP_SHARED = 1;
  private static final int SEEK_END = 2;

  private final UserConnection connection;
  private final int index;
  private final boolean posted;
  private final List<Window> windows;

  /** An area of the region that is mapped. */
  private record Window(long start, MmioRegion registers) {
    boolean holds(long offset, int width) {
      return offset >= start && offset - start <= registers.size() - width;
    }
  }

  private UserRegion(UserConnection connection, int index, boolean posted, List<Window> windows) {
    this.connection = connection;
    this.index = index;
    this.posted = posted;
    this.windows = windows;
  }

  /**
   * Queries a region and maps its mappable areas.
   *
   * @param posted whether writes ask for no reply
   * @param arena ends the mappings
   * @return of size 0 where there is no such region
   */
  static MmioRegion open(
      SystemCalls system, UserConnection connection, int index, boolean posted, Arena arena) {
    RegionDescription description = RegionDescription.ask(connection, system, index);
    try {
      List<Window> windows = new ArrayList<>();
      for (Area area : description.areas()) {
        MemorySegment memory = map(system, description, area, arena);
        if (memory == null) {
          LOG.debug(About.NOTHING, "region {}: {} is not mapped", index, area);
        } else if (area.length() == description.size()) {
          return registers(connection, index, memory);
        } else {
          windows.add(new Window(area.offset(), registers(connection, index, memory)));
        }
      }
      return MmioRegion.trapped(
          description.size(), new UserRegion(connection, index, posted, List.copyOf(windows)));
    } finally {
      description.closeDescriptor(system);
    }
  }

  private static MmioRegion registers(UserConnection connection, int index, MemorySegment memory) {
    return MmioRegion.mapped(
        memory, fault -> connection.end("it truncated the file of region " + index, fault));
  }

  /** Maps an area; null where that is not possible, so that its accesses are messages. */
  @SuppressWarnings("restricted")
  private static MemorySegment map(
      SystemCalls system, RegionDescription description, Area area, Arena arena) {
    long at = description.offset() + area.offset();
    long length = area.length();
    boolean pages = ((at | length) & DmaMapping.PAGE_SIZE - 1) == 0;
    // If the file ends before the area, an access beyond its end would end the process.
    long end = system.lseek(description.descriptor(), 0, SEEK_END);
    if (!pages || length == 0 || description.offset() < 0 || at < 0 || at > end - length) {
      return null;
    }
    long address =
        system.mmap(length, PROT_READ | PROT_WRITE, MAP_SHARED, description.descriptor(), at);
    if (address < 0) {
      return null;
    }
    return MemorySegment.ofAddress(address)
        .reinterpret(length, arena, memory -> system.munmap(address, length));
  }

  /** All ones if there is no reply, as on a bus. */
  @Override
  public long read(long offset, int width) {
    for (Window window : windows) {
      if (window.holds(offset, width) && !connection.isEnded()) {
        return window.registers.read(offset - window.start, width);
      }
    }
    try {
      return connection.read(index, offset, width);
    } catch (VfioException e) {
      LOG.debug(
          About.NOTHING,
          "read of {} bytes at 0x{} of region {}",
          width,
          Long.toHexString(offset),
          index,
          e);
      return -1L >>> 64 - 8 * width;
    }
  }

  @Override
  public boolean isPosted() {
    return posted || !windows.isEmpty();
  }

  /** Dropped if the server is gone, as on a bus. */
  @Override
  public void write(long offset, int width, long value) {
    for (Window window : windows) {
      if (window.holds(offset, width)) {
        window.registers.write(offset - window.start, width, value);
        return;
      }
    }
    if (posted) {
      connection.post(index, offset, width, value);
      return;
    }
    try {
      connection.write(index, offset, width, value);
    } catch (VfioException e) {
      LOG.debug(
          About.NOTHING,
          "write of {} bytes at 0x{} of region {}",
          width,
          Long.toHexString(offset),
          index,
          e);
    }
  }
}
