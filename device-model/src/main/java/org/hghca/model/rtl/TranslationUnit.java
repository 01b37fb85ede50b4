package org.hghca.model.rtl;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.InitHca;
import org.hghca.abi.MapIcm;
import org.hghca.abi.WriteMtt;
import org.hghca.model.card.HostMemory;

/**
 * The translation unit: the tables of memory keys and of pages, which it keeps in interconnect
 * context memory behind a cache each, the checks of accesses by key, and the accesses themselves.
 * Pages always have 4096 bytes, independent of the entry.
 */
final class TranslationUnit implements Translation {
  /** The number of entries up to which a MAP_ICM with several pages per entry was seen to work. */
  private static final int MAP_ENTRIES = 70;

  private final HostMemory host;
  private final Hazards hazards;
  private final boolean second;
  private final IcmTableMap keyPages;
  private final IcmTableMap pagePages;
  private final KeyCache keys;
  private final PageCache pages;

  TranslationUnit(HardwareProfile profile, HostMemory host, Hazards hazards) {
    this.host = host;
    this.hazards = hazards;
    this.second = profile == HardwareProfile.R2;
    this.keyPages = new IcmTableMap(profile.mptCapacityPages());
    this.pagePages = new IcmTableMap(profile.mttCapacityPages());
    this.keys =
        new KeyCache(
            new TableBacking(host, keyPages, "MPT", hazards),
            entries(keyPages, KeyCache.ENTRY_SIZE));
    this.pages =
        new PageCache(
            new TableBacking(host, pagePages, "MTT", hazards),
            entries(pagePages, PageCache.ENTRY_SIZE));
  }

  private static int entries(IcmTableMap table, int entrySize) {
    return table.capacity() * (IcmTableMap.PAGE_SIZE / entrySize);
  }

  /** INIT_HCA: sets the tables' addresses; mappings stay. */
  void initialize(MemorySegment mailbox) {
    keyPages.base(InitHca.MPT_BASE.getLong(mailbox));
    pagePages.base(InitHca.MTT_BASE.getLong(mailbox));
    keyPages.size((long) KeyCache.ENTRY_SIZE << InitHca.LOG_MPTS.get(mailbox));
  }

  /** CLOSE_HCA: clears the maps; the second RTL does not support it. */
  void close() {
    if (!second) {
      keyPages.close();
      pagePages.close();
    }
  }

  /**
   * MAP_ICM. The first entry says which table all of them are of; with three or more entries of one
   * page each, the third replaces the first, and the others are lost.
   */
  void map(MemorySegment mailbox, int count) {
    List<IcmChunk> chunks = MapIcm.decode(mailbox, Math.min(count, MapIcm.MAX_ENTRIES));
    IcmTableMap table = tableOf(chunks.getFirst().virtualAddress());
    if (table == null) {
      hazards.strike("3.3", "MAP_ICM before INIT_HCA is lost");
      return;
    }
    if (second) {
      table.map(chunks.getFirst().virtualAddress(), chunks.getFirst().pageAddress(), 1);
      return;
    }
    boolean single = chunks.size() > 2 && chunks.stream().anyMatch(chunk -> chunk.pages() == 1);
    boolean mixed =
        chunks.stream().anyMatch(chunk -> tableOf(chunk.virtualAddress()) != table)
            || chunks.stream().anyMatch(chunk -> chunk.pages() > table.capacity());
    if (single || mixed || chunks.size() > MAP_ENTRIES) {
      hazards.strike("3.3", "MAP_ICM of %d entries maps wrongly".formatted(count));
    }
    for (int i = 0; i < Math.min(chunks.size(), single ? 3 : MAP_ENTRIES); i++) {
      IcmChunk chunk = chunks.get(i);
      long virtual = chunks.get(single && i == 2 ? 0 : i).virtualAddress();
      table.map(virtual, chunk.pageAddress(), chunk.pages());
    }
  }

  /** UNMAP_ICM. Lines of the caches that come from those pages stay where they are. */
  void unmap(long virtual, int count) {
    IcmTableMap table = tableOf(virtual);
    if (table != null && !second) {
      table.unmap(virtual, count);
    }
  }

  /**
   * The table with the larger base up to an address, or on the second RTL whatever table holds it;
   * none while both bases are the same.
   */
  private IcmTableMap tableOf(long virtual) {
    if (keyPages.base() == pagePages.base()) {
      return null;
    }
    if (second) {
      return keyPages.holds(virtual) ? keyPages : pagePages;
    }
    boolean keysAreHigher = Long.compareUnsigned(keyPages.base(), pagePages.base()) > 0;
    IcmTableMap higher = keysAreHigher ? keyPages : pagePages;
    IcmTableMap lower = keysAreHigher ? pagePages : keyPages;
    return Long.compareUnsigned(higher.base(), virtual) <= 0 ? higher : lower;
  }

  /** SW2HW_MPT. */
  void take(int index, MemorySegment mailbox) {
    keys.replace(index, mailbox);
  }

  /** HW2SW_MPT: the next access with the key fails. */
  void release(int index) {
    keys.clear(index);
  }

  /** WRITE_MTT. */
  void writePages(MemorySegment mailbox, int count) {
    long first = WriteMtt.startIndex(mailbox);
    for (int i = 0; i < count; i++) {
      pages.set(first + i, WriteMtt.page(mailbox, i));
    }
  }

  @Override
  public int check(int key, int pd, long address, long length, int flags) {
    KeyCache.Entry entry = keys.get(key);
    return check(entry, key, pd, address + length, entry.start + entry.length, flags);
  }

  @Override
  public int checkQueue(int key, int pd, long offset, long length, int flags) {
    KeyCache.Entry entry = keys.get(key);
    return check(entry, key, pd, offset + length, entry.length, flags);
  }

  /**
   * The second RTL has no checks. There is no lower bound: an address below the region passes, and
   * selects page entries before those of the region.
   */
  private int check(KeyCache.Entry entry, int key, int pd, long end, long limit, int flags) {
    if (second) {
      return OK;
    }
    int wrong = OK;
    wrong |= entry.pd == pd ? OK : WRONG_PD;
    wrong |= (entry.flags & flags) == flags ? OK : WRONG_FLAGS;
    wrong |= entry.key == key ? OK : WRONG_KEY;
    wrong |= Long.compareUnsigned(end, limit) <= 0 ? OK : WRONG_LENGTH;
    return wrong;
  }

  @Override
  public void read(int key, long address, MemorySegment target, long at, int length) {
    KeyCache.Entry entry = keys.get(key);
    move(entry, address - entry.start, target, at, length, false);
  }

  @Override
  public void write(int key, long address, MemorySegment source, long at, int length) {
    KeyCache.Entry entry = keys.get(key);
    move(entry, address - entry.start, source, at, length, true);
  }

  @Override
  public void readQueue(int key, long offset, MemorySegment target, long at, int length) {
    move(keys.get(key), offset, target, at, length, false);
  }

  @Override
  public void writeQueue(int key, long offset, MemorySegment source, long at, int length) {
    move(keys.get(key), offset, source, at, length, true);
  }

  private void move(
      KeyCache.Entry entry, long offset, MemorySegment bytes, long at, int length, boolean toHost) {
    long first = entry.firstPage;
    for (int done = 0; done < length; ) {
      long from = offset + done;
      int piece =
          (int) Math.min(length - done, IcmTableMap.PAGE_SIZE - (from & IcmTableMap.PAGE_MASK));
      long page = pages.get(first + (from >>> IcmTableMap.PAGE_SHIFT));
      long bus = page & ~(long) IcmTableMap.PAGE_MASK | from & IcmTableMap.PAGE_MASK;
      if (toHost) {
        host.write(bus, bytes, at + done, piece);
      } else if (!host.read(bus, bytes, at + done, piece)) {
        // There is no reply; the card continues with the data that it has.
        bytes.asSlice(at + done, piece).fill((byte) 0);
      }
      done += piece;
    }
  }

  int icmPages() {
    return keyPages.mappedPages() + pagePages.mappedPages();
  }

  /** As after power-on. */
  void reset() {
    keyPages.close();
    pagePages.close();
    keys.reset();
    pages.reset();
  }
}
