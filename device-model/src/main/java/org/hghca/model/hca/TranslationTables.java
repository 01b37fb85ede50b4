package org.hghca.model.hca;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import org.hghca.abi.Mpt;
import org.hghca.abi.MptFlags;
import org.hghca.abi.WriteMtt;
import org.hghca.model.transport.KeyedMemory;
import org.hghca.model.transport.MemoryAccess;
import org.hghca.model.transport.MemoryStatus;
import org.hghca.wire.MemoryPieces;

/**
 * Memory protection and translation: finds the MPT entry of a key, checks protection domain, bounds
 * and permission, and moves bytes between packets and the pages that the MTT names. Entries are
 * read from interconnect context memory at each access; the card itself only records which ones it
 * owns.
 */
final class TranslationTables implements KeyedMemory {
  static final int MTT_ENTRY = 8;

  private static final int PAGE_MASK = Icm.PAGE_SIZE - 1;

  /** Page addresses that are read at a time. */
  private static final int BATCH = 64;

  private final HostMemory host;
  private final Icm icm;

  /** Indices of the MPT entries that software has handed over. */
  private final BitSet owned = new BitSet();

  private final TableEntries entries;
  private final PageWindows windows;
  private final MemorySegment released = Arena.ofAuto().allocate(Mpt.LAYOUT.size(), 64);
  private final MemorySegment pages = Arena.ofAuto().allocate(BATCH * MTT_ENTRY, 64);

  /** The fields of the entry that was loaded last. */
  private int flags;

  private int pd;
  private long start;
  private long length;
  private long firstPage;

  TranslationTables(HostMemory host, Icm icm) {
    this.host = host;
    this.icm = icm;
    this.entries =
        new TableEntries(host, icm, index -> icm.memoryKey((int) index), Mpt.LAYOUT.size());
    this.windows = new PageWindows(host, icm);
  }

  /** Clears the ownership of all entries. */
  void reset() {
    owned.clear();
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
    long first = WriteMtt.startIndex(mailbox);
    for (int i = 0; i < count; i++) {
      long at = icm.page(first + i);
      pages.set(PageWindows.ADDRESS, 0, WriteMtt.page(mailbox, i));
      if (at == Icm.NONE || !host.writeTable(at, pages, MTT_ENTRY)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public MemoryStatus check(int key, int domain, long address, long size, MemoryAccess access) {
    return load(key)
            && (flags & MptFlags.QUEUE_ONLY) == 0
            && pd == domain
            && permits(access)
            && holds(address - start, size)
        ? MemoryStatus.OK
        : MemoryStatus.DENIED;
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
    MemoryStatus status = check(key, domain, address, size, access);
    return status == MemoryStatus.OK ? move(address, target, offset, size, false) : status;
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
    MemoryStatus status = check(key, domain, address, size, access);
    return status == MemoryStatus.OK ? move(address, source, offset, size, true) : status;
  }

  @Override
  public boolean locate(
      int key, int domain, long address, MemoryAccess access, int size, MemoryPieces into) {
    if (check(key, domain, address, size, access) != MemoryStatus.OK) {
      return false;
    }
    boolean toHost = access != MemoryAccess.LOCAL_READ && access != MemoryAccess.REMOTE_READ;
    long index = firstPage + (address >>> Icm.PAGE_SHIFT) - (start >>> Icm.PAGE_SHIFT);
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
    return load(key) && pd == domain && holds(position, size)
        ? MemoryStatus.OK
        : MemoryStatus.DENIED;
  }

  /** Reads bytes of the queue whose part was opened. */
  MemoryStatus readOpened(long position, MemorySegment target, long offset, int size) {
    return holds(position, size)
        ? move(start + position, target, offset, size, false)
        : MemoryStatus.DENIED;
  }

  /** Writes bytes of the queue whose part was opened, which needs permission for local writes. */
  MemoryStatus writeOpened(long position, MemorySegment source, int size) {
    return permits(MemoryAccess.LOCAL_WRITE) && holds(position, size)
        ? move(start + position, source, 0, size, true)
        : MemoryStatus.DENIED;
  }

  /** Loads the MPT entry of a key; returns whether it is a valid one of exactly this key. */
  private boolean load(int key) {
    int index = icm.memoryKeyIndex(key);
    MemorySegment entry = index >= 0 && owned.get(index) ? entries.read(index) : null;
    if (entry == null) {
      return false;
    }
    flags = Mpt.FLAGS.get(entry);
    pd = Mpt.PD.get(entry);
    start = Mpt.START.getLong(entry);
    length = Mpt.LENGTH.getLong(entry);
    firstPage = Mpt.MTT_SEGMENT.getLong(entry);
    return Mpt.KEY.get(entry) == key && (flags & MptFlags.SW_OWNS) == 0;
  }

  private boolean permits(MemoryAccess access) {
    return switch (access) {
      case LOCAL_READ -> true;
      case LOCAL_WRITE -> (flags & MptFlags.LOCAL_WRITE) != 0;
      case REMOTE_WRITE -> (flags & MptFlags.REMOTE_WRITE) != 0;
      case REMOTE_READ -> (flags & MptFlags.REMOTE_READ) != 0;
      case REMOTE_ATOMIC -> (flags & MptFlags.REMOTE_ATOMIC) != 0;
    };
  }

  private boolean holds(long offset, long size) {
    return size >= 0
        && Long.compareUnsigned(offset, length) <= 0
        && Long.compareUnsigned(size, length - offset) <= 0;
  }

  /** Moves bytes by the virtual addresses of the loaded entry, which has allowed it. */
  private MemoryStatus move(
      long address, MemorySegment packet, long offset, int size, boolean toHost) {
    long first = firstPage + (address >>> Icm.PAGE_SHIFT) - (start >>> Icm.PAGE_SHIFT);
    int inPage = (int) address & PAGE_MASK;
    int done = 0;
    for (long index = first; done < size; index++) {
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
    int together = (int) (Icm.PAGE_SIZE - (at & PAGE_MASK)) / MTT_ENTRY;
    int batch = Math.min(Math.min(count, together), BATCH);
    return host.readTable(at, pages, (long) batch * MTT_ENTRY) ? batch : 0;
  }

  private long page(int i) {
    return pages.get(PageWindows.ADDRESS, (long) i * MTT_ENTRY) & ~(long) PAGE_MASK;
  }
}
