package org.hghca.vfio.dma;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import org.hghca.linux.LostPages;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaFault;

/**
 * The mapping from I/O addresses to memory, if this process itself serves the device's accesses.
 * The device accesses memory only through the mapped segment itself, so that an access to freed
 * memory, of a closed arena or a truncated file, is a recorded fault and never a stray access.
 *
 * <p>Accesses and changes exclude each other, so that an unmap returns only after every access to
 * its range has ended.
 */
public final class Iommu {
  private static final int CACHE_SLOTS = 64;
  private static final String CUT_OFF = "the memory's file was truncated";
  private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

  /** One mapped range: the segment's bytes start at {@code iova}. */
  private record Range(long iova, MemorySegment memory, DmaAccess access) {
    boolean holds(long address, long length) {
      long offset = address - iova;
      return offset >= 0 && offset <= memory.byteSize() - length;
    }
  }

  /** Sorted by address. */
  private Range[] ranges = new Range[0];

  /**
   * The range last found for a page, by the low bits of the page number: a hint that must be
   * checked.
   */
  private final Range[] cache = new Range[CACHE_SLOTS];

  private final DmaFaults faults = new DmaFaults();

  /**
   * Makes memory accessible to the device.
   *
   * @param iova of its first byte; nothing is mapped there
   */
  public synchronized void map(long iova, MemorySegment memory, DmaAccess access) {
    int at = -1 - find(iova);
    Range[] grown = new Range[ranges.length + 1];
    System.arraycopy(ranges, 0, grown, 0, at);
    grown[at] = new Range(iova, memory, access);
    System.arraycopy(ranges, at, grown, at + 1, ranges.length - at);
    ranges = grown;
  }

  /**
   * Undoes {@link #map}.
   *
   * @param iova as passed to it
   */
  public synchronized void unmap(long iova) {
    int at = find(iova);
    Range[] shrunk = new Range[ranges.length - 1];
    System.arraycopy(ranges, 0, shrunk, 0, at);
    System.arraycopy(ranges, at + 1, shrunk, at, shrunk.length - at);
    ranges = shrunk;
    Arrays.fill(cache, null);
  }

  /** As {@link org.hghca.vfio.DeviceBus#read}. */
  public synchronized boolean read(long iova, MemorySegment destination, long offset, long length) {
    if (length == 0) {
      return true;
    }
    Range range = lookup(iova, length);
    if (range == null) {
      return fault(iova, length, false, "not mapped");
    }
    try {
      MemorySegment.copy(range.memory, iova - range.iova, destination, offset, length);
      LostPages.throwFault();
      return true;
    } catch (IllegalStateException | WrongThreadException e) {
      return fault(iova, length, false, e.getMessage());
    } catch (InternalError e) {
      return fault(iova, length, false, CUT_OFF);
    }
  }

  /** As {@link org.hghca.vfio.DeviceBus#write}. */
  public synchronized boolean write(long iova, MemorySegment source, long offset, long length) {
    if (length == 0) {
      return true;
    }
    Range range = lookup(iova, length);
    if (range == null) {
      return fault(iova, length, true, "not mapped");
    }
    if (!range.access.writable()) {
      return fault(iova, length, true, "mapped read-only");
    }
    try {
      long at = iova - range.iova;
      long last = length - 1;
      MemorySegment.copy(source, offset, range.memory, at, last);
      // A thread that polls the last byte (an owner byte, a flag after a payload) must find the
      // rest.
      BYTE.setRelease(range.memory, at + last, source.get(ValueLayout.JAVA_BYTE, offset + last));
      LostPages.throwFault();
      return true;
    } catch (IllegalStateException | WrongThreadException e) {
      return fault(iova, length, true, e.getMessage());
    } catch (InternalError e) {
      return fault(iova, length, true, CUT_OFF);
    }
  }

  /** The newest 64, oldest first. */
  public List<DmaFault> faults() {
    return faults.list();
  }

  /** Total number of refused accesses. */
  public long faultCount() {
    return faults.count();
  }

  private boolean fault(long iova, long length, boolean write, String cause) {
    faults.record(iova, length, write, cause);
    return false;
  }

  private Range lookup(long iova, long length) {
    int slot = (int) (iova >>> 12) & CACHE_SLOTS - 1;
    Range range = cache[slot];
    if (range != null && range.holds(iova, length)) {
      return range;
    }
    int at = find(iova);
    int candidate = at >= 0 ? at : -2 - at;
    if (candidate < 0 || !ranges[candidate].holds(iova, length)) {
      return null;
    }
    cache[slot] = ranges[candidate];
    return ranges[candidate];
  }

  /** The index of the range that starts at an address, or -1 minus its insertion index. */
  private int find(long iova) {
    int low = 0;
    int high = ranges.length - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int order = Long.compareUnsigned(ranges[middle].iova, iova);
      if (order == 0) {
        return middle;
      }
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return -1 - low;
  }
}
