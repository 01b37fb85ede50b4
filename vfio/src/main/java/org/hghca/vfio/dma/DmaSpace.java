package org.hghca.vfio.dma;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.MemorySource;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.linux.ProcessMemory;

/**
 * The host's record of an I/O page table that another party maintains: which addresses are in use,
 * and for which memory. Memory is rounded outward to pages. If the table pins pages, memory inside
 * a mapping with sufficient access rights shares that mapping: pages are pinned once. Thread-safe.
 */
public final class DmaSpace implements AddressSpace {
  /** A thread that never runs: memory that it may access is not confined. */
  private static final Thread STRANGER = Thread.ofPlatform().unstarted(() -> {});

  private static final long PAGE = DmaMapping.PAGE_SIZE;

  private final DmaBackend backend;
  private final IovaAllocator addresses;

  // Mappings that new memory may share. Of nested mappings only the outer one is listed, so that
  // ends ascend like starts, and the last mapping that starts at or below an address extends
  // farthest.
  private final NavigableMap<Long, Range> readable = new TreeMap<>();
  private final NavigableMap<Long, Range> writable = new TreeMap<>();

  public DmaSpace(DmaBackend backend) {
    this.backend = backend;
    this.addresses = new IovaAllocator(backend.ranges());
  }

  /**
   * Queries the usable addresses from the backend again: a function that joins may exclude some.
   */
  public void refresh() {
    addresses.restrict(backend.ranges());
  }

  /** Pages that the device can access, held by one or more pins. */
  private static final class Range {
    final long start;
    final long end;
    final long iova;
    final DmaAccess access;

    /**
     * The scope of the memory for which the pages were mapped. While it is alive, the device's
     * pages are those of the memory; afterwards other memory may be at these addresses.
     */
    final MemorySegment.Scope scope;

    /**
     * Mappings with the same access rights inside this one; they are not offered for sharing while
     * this one is.
     */
    final List<Range> inner = new ArrayList<>();

    int pins = 1;

    Range(long start, long end, long iova, DmaAccess access, MemorySegment.Scope scope) {
      this.start = start;
      this.end = end;
      this.iova = iova;
      this.access = access;
      this.scope = scope;
    }
  }

  private final class RangePin implements Pin {
    private final Range range;
    private final long iova;

    RangePin(Range range, MemorySegment memory) {
      this.range = range;
      this.iova = range.iova + memory.address() - range.start;
    }

    @Override
    public long iova(long offset) {
      return iova + offset;
    }

    @Override
    public void release() {
      unpin(range);
    }
  }

  @Override
  public Pin pin(MemorySegment memory, DmaAccess access) {
    boolean pinsPages = backend.pinsPages();
    if (!pinsPages && !memory.isAccessibleBy(STRANGER)) {
      throw new VfioException(
          Reason.INVALID,
          "memory confined to a thread cannot be mapped: another thread serves this device's"
              + " accesses; use Arena.ofShared(), Arena.ofAuto() or the protection domain's"
              + " memory");
    }
    long start = memory.address() & -PAGE;
    long end = PagePool.wholePages(memory.address() + memory.byteSize());
    if (start < 0 || end <= start) {
      throw new VfioException(
          Reason.INVALID,
          "there is no memory of %d bytes at 0x%x".formatted(memory.byteSize(), memory.address()));
    }
    synchronized (this) {
      Range range = pinsPages ? shared(start, end, access) : null;
      if (range != null) {
        range.pins++;
      } else {
        range = map(memory, start, end, access);
        if (pinsPages) {
          offer(range);
        }
      }
      return new RangePin(range, memory);
    }
  }

  private Range shared(long start, long end, DmaAccess access) {
    Range range = covering(writable, start, end);
    return range == null && !access.writable() ? covering(readable, start, end) : range;
  }

  private Range covering(NavigableMap<Long, Range> ranges, long start, long end) {
    Map.Entry<Long, Range> below = ranges.floorEntry(start);
    while (below != null && below.getValue().end >= end) {
      if (below.getValue().scope.isAlive()) {
        return below.getValue();
      }
      withdraw(below.getValue());
      below = ranges.floorEntry(start);
    }
    return null;
  }

  private Range map(MemorySegment memory, long start, long end, DmaAccess access) {
    long bytes = end - start;
    // The table can use large pages only if both addresses have the same offset.
    long iova =
        bytes >= MemorySource.HUGE_PAGE
            ? addresses.allocate(bytes, MemorySource.HUGE_PAGE, start)
            : addresses.allocate(bytes);
    try {
      backend.map(memory, start, bytes, iova, access);
    } catch (RuntimeException e) {
      addresses.free(iova);
      throw because(memory, access, e);
    }
    return new Range(start, end, iova, access, memory.scope());
  }

  /** The kernel's error for missing memory may have another cause, too. */
  private static RuntimeException because(
      MemorySegment memory, DmaAccess access, RuntimeException failure) {
    try {
      ProcessMemory.check(memory, access);
      return failure;
    } catch (VfioException e) {
      e.addSuppressed(failure);
      return e.reason() == Reason.BAD_ADDRESS ? e : failure;
    }
  }

  private void offer(Range range) {
    NavigableMap<Long, Range> ranges = rangesFor(range.access);
    Map.Entry<Long, Range> below = ranges.floorEntry(range.start);
    if (below != null && below.getValue().end >= range.end) {
      below.getValue().inner.add(range);
      return;
    }
    Iterator<Range> within = ranges.subMap(range.start, range.end).values().iterator();
    while (within.hasNext()) {
      Range other = within.next();
      if (other.end <= range.end) {
        within.remove();
        range.inner.add(other);
      }
    }
    ranges.put(range.start, range);
  }

  private void withdraw(Range range) {
    if (rangesFor(range.access).remove(range.start, range)) {
      List<Range> inner = List.copyOf(range.inner);
      range.inner.clear();
      for (Range other : inner) {
        if (other.pins > 0) {
          offer(other);
        }
      }
    }
  }

  private NavigableMap<Long, Range> rangesFor(DmaAccess access) {
    return access.writable() ? writable : readable;
  }

  private synchronized void unpin(Range range) {
    if (--range.pins > 0) {
      return;
    }
    withdraw(range);
    backend.unmap(range.iova, range.end - range.start);
    addresses.free(range.iova); // Not if that failed: the device may still access the memory.
  }
}
