package org.hghca.model.hca;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import org.hghca.abi.Mpt;
import org.hghca.abi.MptFlags;
import org.hghca.abi.WriteMtt;
import org.hghca.model.card.HostMemory;
import org.hghca.model.transport.KeyedMemory;
import org.hghca.model.transport.MemoryAccess;
import org.hghca.model.transport.MemoryStatus;
import org.hghca.vfio.DmaWindow;
import org.hghca.wire.MemoryPieces;

/**
 * Memory protection and translation: finds the MPT entry of a key, checks protection domain, bounds
 * and permission, and moves bytes between packets and the pages that the MTT names. The entries are
 * in interconnect context memory; the card itself records which ones it owns, and keeps what it has
 * read of them until a command changes them, or the mappings change.
 */
final class TranslationTables implements KeyedMemory {
  private static final int PAGE_MASK = Icm.PAGE_SIZE - 1;

  /** Regions that are kept. */
  private static final int REGIONS = 1024;

  /** Page addresses that are read at a time. */
  private static final int BATCH = 64;

  private final HostMemory host;
  private final Icm icm;

  /** Indices of the MPT entries that software has handed over. */
  private final BitSet owned = new BitSet();

  private final TableEntries entries;
  private final PageWindows windows;
  private final MemorySegment released = Arena.ofAuto().allocate(Mpt.LAYOUT.size(), 64);
  private final MemorySegment pages = Arena.ofAuto().allocate(BATCH * PageWindows.ENTRY, 64);

  /** What was loaded, by the low bits of the key; null where nothing was. */
  private final Region[] regions = new Region[REGIONS];

  /** That of the queue whose part was opened. */
  private Region opened;

  TranslationTables(HostMemory host, Icm icm) {
    this.host = host;
    this.icm = icm;
    this.entries = new TableEntries(host, index -> icm.memoryKey((int) index), Mpt.LAYOUT.size());
    this.windows = new PageWindows(host, icm);
  }

  /** Clears the ownership of all entries. */
  void reset() {
    owned.clear();
    host.change();
  }

  /**
   * SW2HW_MPT: takes an entry over from software.
   *
   * @return false when the index or the entry is wrong, it is the card's already, or its place in
   *     ICM cannot be reached
   */
  boolean take(int index, MemorySegment mailbox) {
    long at = icm.memoryKey(index);
    if (at == Icm.NONE
        || icm.memoryKeyIndex(index) != index
        || owned.get(index)
        || icm.memoryKeyIndex(Mpt.KEY.get(mailbox)) != index
        || (Mpt.FLAGS.get(mailbox) & MptFlags.SW_OWNS) != 0
        || !host.writeTable(at, mailbox, Mpt.LAYOUT.size())) {
      return false;
    }
    owned.set(index);
    host.change();
    return true;
  }

  /**
   * HW2SW_MPT: gives an entry back to software; the next access with its key fails.
   *
   * @return false when the entry is not the card's
   */
  boolean release(int index) {
    if (index < 0 || icm.memoryKeyIndex(index) != index || !owned.get(index)) {
      return false;
    }
    owned.clear(index);
    host.change();
    long at = icm.memoryKey(index);
    if (at != Icm.NONE && host.readTable(at, released, Mpt.LAYOUT.size())) {
      Mpt.FLAGS.set(released, Mpt.FLAGS.get(released) | MptFlags.SW_OWNS);
      host.writeTable(at, released, Mpt.LAYOUT.size());
    }
    return true;
  }

  /**
   * WRITE_MTT: stores page addresses.
   *
   * @return false when a place in ICM cannot be reached
   */
  boolean writePages(MemorySegment mailbox, int count) {
    host.change();
    long first = WriteMtt.startIndex(mailbox);
    for (int i = 0; i < count; i++) {
      long at = icm.page(first + i);
      pages.set(PageWindows.ADDRESS, 0, WriteMtt.page(mailbox, i));
      if (at == Icm.NONE || !host.writeTable(at, pages, PageWindows.ENTRY)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public MemoryStatus check(int key, int domain, long address, long size, MemoryAccess access) {
    return find(key, domain, address, size, access) == null ? MemoryStatus.DENIED : MemoryStatus.OK;
  }

  @Override
  public MemoryStatus read(
      int key,
      int domain,
      long address,
      MemoryAccess access,
      MemorySegment target,
      long offset,
      int size) {
    Region region = find(key, domain, address, size, access);
    if (region == null) {
      return MemoryStatus.DENIED;
    }
    return region.reaches(address, size)
            && HostMemory.read(region.window(), region.iova(address), target, offset, size)
        ? MemoryStatus.OK
        : move(region, address, target, offset, size, false);
  }

  @Override
  public MemoryStatus write(
      int key,
      int domain,
      long address,
      MemoryAccess access,
      MemorySegment source,
      long offset,
      int size) {
    Region region = find(key, domain, address, size, access);
    if (region == null) {
      return MemoryStatus.DENIED;
    }
    return region.reaches(address, size)
            && region.isWritable()
            && HostMemory.write(region.window(), region.iova(address), source, offset, size)
        ? MemoryStatus.OK
        : move(region, address, source, offset, size, true);
  }

  @Override
  public boolean locate(
      int key, int domain, long address, MemoryAccess access, int size, MemoryPieces into) {
    Region region = find(key, domain, address, size, access);
    if (region == null) {
      return false;
    }
    boolean toHost = access != MemoryAccess.LOCAL_READ && access != MemoryAccess.REMOTE_READ;
    if (reaches(region, address, size) && (!toHost || region.isWritable())) {
      DmaWindow window = region.window();
      into.add(
          window.memory(), region.iova(address) - window.iova(), size, HostMemory.kind(window));
      return true;
    }
    return locateByPages(region, address, size, toHost, into);
  }

  private boolean locateByPages(
      Region region, long address, int size, boolean toHost, MemoryPieces into) {
    long index = region.page(address);
    int inPage = (int) address & PAGE_MASK;
    for (int done = 0; done < size; ) {
      int found = windows.locate(index, inPage, size - done, toHost, into);
      if (found == 0) {
        return false;
      }
      done += found;
      index += inPage + found >>> Icm.PAGE_SHIFT;
      inPage = 0;
    }
    return true;
  }

  /** Reads from a queue, whose addresses count from the beginning of its memory region. */
  MemoryStatus readQueue(
      int key, int domain, long position, MemorySegment target, long offset, int size) {
    MemoryStatus status = openQueue(key, domain, position, size);
    return status == MemoryStatus.OK ? readOpened(position, target, offset, size) : status;
  }

  /** Writes to a queue, which needs permission for local writes; see {@link #readQueue}. */
  MemoryStatus writeQueue(int key, int domain, long position, MemorySegment source, int size) {
    MemoryStatus status = openQueue(key, domain, position, size);
    return status == MemoryStatus.OK ? writeOpened(position, source, size) : status;
  }

  /**
   * Opens a part of a queue, for {@link #readOpened} and {@link #writeOpened} until the next call
   * of any other method.
   */
  MemoryStatus openQueue(int key, int domain, long position, int size) {
    opened = find(key);
    return opened != null && opened.mayHoldQueuesOf(domain) && opened.holds(position, size)
        ? MemoryStatus.OK
        : MemoryStatus.DENIED;
  }

  /**
   * Finds bytes of a queue in place, which then may be read in this step.
   *
   * @param queue what is known of its memory
   * @return false where they are not in one piece, or may not be accessed: {@link #openQueue} tells
   */
  boolean reach(QueueMemory queue, int key, int domain, long position, int size, QueueBytes into) {
    if (!queue.holds(key, domain, host.current(), position, size)
        && !(host.isDirect() && look(queue, key, domain, position, size))) {
      return false;
    }
    into.place(queue.at(position));
    return true;
  }

  private boolean look(QueueMemory queue, int key, int domain, long position, int size) {
    try {
      if (openQueue(key, domain, position, size) != MemoryStatus.OK
          || !reaches(opened, opened.start() + position, size)
          || !opened.window().stays()) {
        return false;
      }
      queue.keep(opened, key, domain, host.epoch());
      return true;
    } catch (IllegalStateException e) {
      return false; // the memory of a table has gone
    }
  }

  /** The epoch of what is read now, and that of what is good now; see {@link HostMemory}. */
  long epoch() {
    return host.epoch();
  }

  long current() {
    return host.current();
  }

  /** Reads bytes of the queue whose part was opened. */
  MemoryStatus readOpened(long position, MemorySegment target, long offset, int size) {
    return opened.holds(position, size)
        ? move(opened, opened.start() + position, target, offset, size, false)
        : MemoryStatus.DENIED;
  }

  /** Writes bytes of the queue whose part was opened, which needs permission for local writes. */
  MemoryStatus writeOpened(long position, MemorySegment source, int size) {
    return opened.has(MemoryAccess.LOCAL_WRITE) && opened.holds(position, size)
        ? move(opened, opened.start() + position, source, 0, size, true)
        : MemoryStatus.DENIED;
  }

  /** The region of a key if it allows an access, null otherwise. */
  private Region find(int key, int domain, long address, long size, MemoryAccess access) {
    Region region = find(key);
    return region != null
            && region.isIn(domain)
            && region.permits(access)
            && region.holds(address - region.start(), size)
        ? region
        : null;
  }

  /** The region of a key, null unless there is a valid one of exactly this key. */
  private Region find(int key) {
    Region known = regions[key & REGIONS - 1];
    return known != null && known.isGood(key, host.current()) ? known : load(key);
  }

  /** Loads the MPT entry of a key. Calls of the bus do not say whether the mappings change. */
  private Region load(int key) {
    int index = icm.memoryKeyIndex(key);
    MemorySegment entry = index >= 0 && owned.get(index) ? entries.read(index) : null;
    if (entry == null) {
      return null;
    }
    int slot = key & REGIONS - 1;
    if (regions[slot] == null) {
      regions[slot] = new Region();
    }
    Region region = regions[slot];
    region.load(entry, host.isDirect() ? host.epoch() : Region.NEVER);
    return region.isOf(key) ? region : null;
  }

  /** Whether the stretch of a region has some bytes, maybe after their pages were added to it. */
  private boolean reaches(Region region, long address, int size) {
    return region.reaches(address, size) || windows.stretch(region, address, size);
  }

  /** Moves bytes by the virtual addresses of a region, which has allowed it. */
  private MemoryStatus move(
      Region region, long address, MemorySegment packet, long offset, int size, boolean toHost) {
    return reaches(region, address, size)
            && move(region.window(), region.iova(address), packet, offset, size, toHost)
        ? MemoryStatus.OK
        : moveByPages(region, address, packet, offset, size, toHost);
  }

  private static boolean move(
      DmaWindow window, long iova, MemorySegment packet, long offset, int size, boolean toHost) {
    return toHost
        ? window.access().writable() && HostMemory.write(window, iova, packet, offset, size)
        : HostMemory.read(window, iova, packet, offset, size);
  }

  private MemoryStatus moveByPages(
      Region region, long address, MemorySegment packet, long offset, int size, boolean toHost) {
    int inPage = (int) address & PAGE_MASK;
    int done = 0;
    for (long index = region.page(address); done < size; index++) {
      int piece = Math.min(size - done, Icm.PAGE_SIZE - inPage);
      if (!windows.move(index, inPage, packet, offset + done, piece, toHost)) {
        return moveByCalls(index, inPage, packet, offset + done, size - done, toHost);
      }
      done += piece;
      inPage = 0;
    }
    return MemoryStatus.OK;
  }

  /** Moves bytes from one page on, with as few calls of the bus as it takes. */
  private MemoryStatus moveByCalls(
      long first, int begin, MemorySegment packet, long offset, int size, boolean toHost) {
    int inPage = begin;
    int count = inPage + size + PAGE_MASK >>> Icm.PAGE_SHIFT;
    int done = 0;
    for (int looked = 0; looked < count; ) {
      int batch = loadPages(first + looked, count - looked);
      if (batch == 0) {
        return MemoryStatus.FAULT;
      }
      for (int i = 0; i < batch; ) {
        long page = page(i);
        int run = 1;
        while (i + run < batch && page(i + run) == page + (long) run * Icm.PAGE_SIZE) {
          run++;
        }
        int piece = Math.min(size - done, run * Icm.PAGE_SIZE - inPage);
        boolean moved =
            toHost
                ? host.write(page + inPage, packet, offset + done, piece)
                : host.read(page + inPage, packet, offset + done, piece);
        if (!moved) {
          return MemoryStatus.FAULT;
        }
        done += piece;
        inPage = 0;
        i += run;
      }
      looked += batch;
    }
    return MemoryStatus.OK;
  }

  /** Loads page addresses from an index on, as many as are contiguous; returns their number. */
  private int loadPages(long index, int count) {
    long at = icm.page(index);
    if (at == Icm.NONE) {
      return 0;
    }
    int together = (int) (Icm.PAGE_SIZE - (at & PAGE_MASK)) / PageWindows.ENTRY;
    int batch = Math.min(Math.min(count, together), BATCH);
    return host.readTable(at, pages, (long) batch * PageWindows.ENTRY) ? batch : 0;
  }

  private long page(int i) {
    return pages.get(PageWindows.ADDRESS, (long) i * PageWindows.ENTRY) & ~(long) PAGE_MASK;
  }
}
