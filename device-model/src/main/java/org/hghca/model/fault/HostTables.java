package org.hghca.model.fault;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.MapIcm;
import org.hghca.abi.Mpt;
import org.hghca.abi.WriteMtt;

/** The tables of the card as the commands of the driver have filled them. */
final class HostTables {
  private static final int PAGE_SHIFT = 12;
  private static final int PAGE = 1 << PAGE_SHIFT;

  /** Pages of the page table by their index. */
  private final Map<Long, Long> mtt = new HashMap<>();

  /** Regions by the index of their entry. */
  private final Map<Integer, Mpt> regions = new HashMap<>();

  /** The first of each. */
  private final Map<Long, Long> firstPages = new HashMap<>();

  private final Map<Integer, Mpt> firstRegions = new HashMap<>();

  /** Context memory: bus addresses by ICM addresses, of pages, and the other way round. */
  private final Map<Long, Long> icm = new HashMap<>();

  private final Map<Long, Long> icmAddresses = new HashMap<>();

  private final List<Ring> rings = new ArrayList<>();
  private final Map<Long, List<Ring>> ringsByPage = new HashMap<>();

  /** Pages of work queues. */
  private final Set<Long> work = new HashSet<>();

  void clear() {
    mtt.clear();
    regions.clear();
    firstPages.clear();
    firstRegions.clear();
    icm.clear();
    icmAddresses.clear();
    rings.clear();
    ringsByPage.clear();
    work.clear();
  }

  /** MAP_ICM. */
  void map(MemorySegment mailbox, int count) {
    for (IcmChunk chunk : MapIcm.decode(mailbox, count)) {
      for (int i = 0; i < chunk.pages(); i++) {
        long virtual = chunk.virtualAddress() + (long) i * PAGE;
        icm.put(virtual, chunk.pageAddress() + (long) i * PAGE);
        icmAddresses.put(chunk.pageAddress() + (long) i * PAGE, virtual);
      }
    }
  }

  /** UNMAP_ICM. */
  void unmap(long virtual, int count) {
    for (int i = 0; i < count; i++) {
      Long page = icm.remove(virtual + (long) i * PAGE);
      icmAddresses.remove(page);
    }
  }

  /** Whether an address is context memory. */
  boolean isIcm(long iova) {
    return icmAddresses.containsKey(iova & -PAGE);
  }

  /** The same offset in the page before, for a page of context memory with an odd number. */
  long alias(long iova) {
    Long virtual = icmAddresses.get(iova & -PAGE);
    if (virtual == null || (virtual >>> PAGE_SHIFT & 1) == 0) {
      return iova;
    }
    Long before = icm.get(virtual - PAGE);
    return before == null ? iova : before + (iova & PAGE - 1);
  }

  /** WRITE_MTT. */
  void writePages(MemorySegment mailbox, int count) {
    long first = WriteMtt.startIndex(mailbox);
    for (int i = 0; i < count; i++) {
      long page = WriteMtt.page(mailbox, i);
      mtt.put(first + i, page);
      firstPages.putIfAbsent(first + i, page);
    }
  }

  /** SW2HW_MPT. */
  void register(int index, MemorySegment mailbox) {
    Mpt region = Mpt.decode(mailbox);
    regions.put(index, region);
    firstRegions.putIfAbsent(index, region);
  }

  /** HW2SW_MPT. */
  void deregister(int index) {
    Mpt region = regions.remove(index);
    if (region != null) {
      for (int i = 0; i < pageCount(region, region.length()); i++) {
        work.remove(page(region, i));
      }
    }
  }

  private Mpt region(int key) {
    return regions.values().stream().filter(region -> region.key() == key).findFirst().orElse(null);
  }

  private static int pageCount(Mpt region, long bytes) {
    return (int) ((region.start() & PAGE - 1) + bytes + PAGE - 1 >>> PAGE_SHIFT);
  }

  /** A page of a region; none where the driver has given no address. */
  private long page(Mpt region, long number) {
    return mtt.getOrDefault(region.mttSegment() + number, -1L) & -PAGE;
  }

  /** A region holds a work queue. */
  void isWork(int key) {
    Mpt region = region(key);
    if (region != null) {
      for (int i = 0; i < pageCount(region, region.length()); i++) {
        work.add(page(region, i));
      }
    }
  }

  /** Whether an address is a work queue's. */
  boolean isWork(long iova) {
    return work.contains(iova & -PAGE);
  }

  /** A queue is in a region, from a byte on; nothing where that is not known. */
  void add(Use use, int number, int logSize, int key, long start) {
    remove(use, number);
    Mpt region = region(key);
    if (region == null) {
      return;
    }
    int entries = 1 << logSize;
    long first = (region.start() & PAGE - 1) + start;
    int inPage = (int) first & PAGE - 1;
    long[] pages = new long[inPage + entries * Ring.ENTRY + PAGE - 1 >>> PAGE_SHIFT];
    for (int i = 0; i < pages.length; i++) {
      pages[i] = page(region, (first >>> PAGE_SHIFT) + i);
    }
    Ring ring = new Ring(use, number, entries, pages, inPage);
    rings.add(ring);
    for (long page : pages) {
      ringsByPage.computeIfAbsent(page, any -> new ArrayList<>()).add(ring);
    }
  }

  /** A queue is the driver's again. */
  void remove(Use use, int number) {
    rings.removeIf(
        ring -> {
          boolean gone = ring.use == use && ring.number == number;
          if (gone) {
            for (long page : ring.pages()) {
              ringsByPage.get(page).remove(ring);
            }
          }
          return gone;
        });
  }

  /** The ring that has an address; null when there is none. */
  Ring ring(long iova) {
    for (Ring ring : ringsByPage.getOrDefault(iova & -PAGE, List.of())) {
      if (ring.offset(iova) >= 0) {
        return ring;
      }
    }
    return null;
  }

  /** Where the page of a region is; nothing where an address is in none. */
  private Optional<PlacedPage> placed(long iova) {
    for (Map.Entry<Integer, Mpt> entry : regions.entrySet()) {
      Mpt region = entry.getValue();
      int count = pageCount(region, region.length());
      for (int i = 0; i < count; i++) {
        if (page(region, i) == (iova & -PAGE)) {
          return Optional.of(new PlacedPage(entry.getKey(), region, i));
        }
      }
    }
    return Optional.empty();
  }

  /** A page of the region of an entry by its number. */
  private record PlacedPage(int index, Mpt region, int number) {}

  /** The same offset where a page would be, if the pages of its region followed one another. */
  long contiguous(long iova) {
    return placed(iova)
        .map(page -> page(page.region(), 0) + (long) page.number() * PAGE + (iova & PAGE - 1))
        .orElse(iova);
  }

  /** The same offset in the page that was first written to its MTT entry. */
  long firstPage(long iova) {
    return placed(iova)
        .map(page -> firstPages.get(page.region().mttSegment() + page.number()))
        .map(first -> (first & -PAGE) + (iova & PAGE - 1))
        .orElse(iova);
  }

  /** The same offset in the page of the first region of its MPT entry that has its number. */
  long firstRegion(long iova) {
    return placed(iova)
        .map(page -> page(firstRegions.get(page.index()), page.number()))
        .filter(first -> first != -PAGE)
        .map(first -> first + (iova & PAGE - 1))
        .orElse(iova);
  }

  /** The same offset in an earlier page, for an address in one of some pages of a region. */
  long misplaced(long iova, int first, int end, int back) {
    for (Mpt region : regions.values()) {
      int last = Math.min(end, pageCount(region, region.length()));
      for (int i = first; i < last; i++) {
        if (page(region, i) == (iova & -PAGE)) {
          return page(region, i - back) + (iova & PAGE - 1);
        }
      }
    }
    return iova;
  }
}
