package org.hghca.model.hca;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.Mpt;
import org.hghca.abi.MptFlags;
import org.hghca.model.transport.MemoryAccess;
import org.hghca.vfio.DmaWindow;

/**
 * A memory region as its MPT entry describes it, and a stretch of its pages that follow one another
 * in one window of the bus: the one that was accessed last, with all that its neighbors have added.
 * Good until the tables or the mappings change.
 */
final class Region {
  /** An epoch in which nothing is good. */
  static final long NEVER = -1;

  private static final MemoryAccess[] ACCESSES = MemoryAccess.values();

  private int key;
  private long epoch = NEVER;
  private int flags;

  /** What packets may do: a bit for each {@link MemoryAccess}. */
  private int permissions;

  private int pd;
  private long start;
  private long length;
  private long firstPage;

  /** The stretch: virtual address, bytes, I/O address, and the window that has them. */
  private long from;

  private long bytes;
  private long iova;
  private DmaWindow window;

  /** Whether the window may be written. */
  private boolean writable;

  /**
   * Takes over an entry, without a stretch.
   *
   * @param good the epoch in which it is good, or {@link #NEVER}
   */
  void load(MemorySegment entry, long good) {
    key = Mpt.KEY.get(entry);
    flags = Mpt.FLAGS.get(entry);
    pd = Mpt.PD.get(entry);
    start = Mpt.START.getLong(entry);
    length = Mpt.LENGTH.getLong(entry);
    firstPage = Mpt.MTT_SEGMENT.getLong(entry);
    permissions = (flags & MptFlags.QUEUE_ONLY) != 0 ? 0 : permissions();
    epoch = (flags & MptFlags.SW_OWNS) != 0 ? NEVER : good;
    bytes = 0;
    window = null;
    writable = false;
  }

  private int permissions() {
    int all = 0;
    for (MemoryAccess access : ACCESSES) {
      all |= has(access) ? bit(access) : 0;
    }
    return all;
  }

  private static int bit(MemoryAccess access) {
    return 1 << access.ordinal();
  }

  /** Whether it is good in an epoch, owned by the card, and that of a key. */
  boolean isGood(int ofKey, long in) {
    return epoch == in && key == ofKey;
  }

  /** Whether the card owns it, and its key is this one. */
  boolean isOf(int ofKey) {
    return key == ofKey && (flags & MptFlags.SW_OWNS) == 0;
  }

  boolean isIn(int domain) {
    return pd == domain;
  }

  /** Whether it may hold rings of queues of a domain. */
  boolean mayHoldQueuesOf(int domain) {
    return (flags & MptFlags.QUEUE_ONLY) != 0 || isIn(domain);
  }

  /** Whether packets may access it: not where only the card's own queues may. */
  boolean permits(MemoryAccess access) {
    return (permissions & bit(access)) != 0;
  }

  /** Whether its entry allows an access, to packets or to queues. */
  boolean has(MemoryAccess access) {
    return switch (access) {
      case LOCAL_READ -> true;
      case LOCAL_WRITE -> (flags & MptFlags.LOCAL_WRITE) != 0;
      case REMOTE_WRITE -> (flags & MptFlags.REMOTE_WRITE) != 0;
      case REMOTE_READ -> (flags & MptFlags.REMOTE_READ) != 0;
      case REMOTE_ATOMIC -> (flags & MptFlags.REMOTE_ATOMIC) != 0;
    };
  }

  /** Whether bytes from an offset on are in it. */
  boolean holds(long offset, long size) {
    return size >= 0
        && Long.compareUnsigned(offset, length) <= 0
        && Long.compareUnsigned(size, length - offset) <= 0;
  }

  /** The virtual address of its first byte. */
  long start() {
    return start;
  }

  /** The index in the MTT of the page of a virtual address. */
  long page(long address) {
    return firstPage + (address >>> Icm.PAGE_SHIFT) - (start >>> Icm.PAGE_SHIFT);
  }

  /** Whether the stretch has some bytes, at least one. */
  boolean reaches(long address, int size) {
    long offset = address - from;
    return offset >= 0 && offset <= bytes - size;
  }

  /** The offset in the region where the stretch begins; it may be larger than the region. */
  long stretchBegin() {
    return Math.max(0, from - start);
  }

  /** The offset in the region where the stretch ends. */
  long stretchEnd() {
    return Math.min(length, from + bytes - start);
  }

  /** The I/O address of a virtual address of the stretch. */
  long iova(long address) {
    return iova + (address - from);
  }

  /** Whether the bus lets the card write to the stretch. */
  boolean isWritable() {
    return writable;
  }

  /** The window of the stretch. */
  DmaWindow window() {
    return window;
  }

  /**
   * Adds pages to the stretch if they are next to it, or else has them be the stretch.
   *
   * @param in has at least one of the bytes
   * @param virtual their virtual address
   * @param at their I/O address
   */
  void add(DmaWindow in, long virtual, long at, long size) {
    long begin = Math.max(at, in.iova());
    long end = Math.min(at + size, in.iova() + in.memory().byteSize());
    long first = virtual + (begin - at);
    if (in.equals(window) && first - from == begin - iova && begin <= iova + bytes && iova <= end) {
      end = Math.max(end, iova + bytes);
      from = Math.min(from, first);
      iova = Math.min(iova, begin);
    } else {
      window = in;
      writable = in.access().writable();
      from = first;
      iova = begin;
    }
    bytes = end - iova;
  }
}
