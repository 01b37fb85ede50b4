package org.hghca.vfio.user;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.LostPages;
import org.hghca.linux.OrderedCopy;
import org.hghca.vfio.dma.DmaFaults;

/**
 * The mapping from I/O addresses to the client's memory. Thread-safe: accesses and changes exclude
 * each other, so that an unmap returns only after every access to its range has ended.
 *
 * <p>There may be thousands of ranges, because a client with its own I/O page table maps page by
 * page: they are kept sorted. An access may span adjacent ranges.
 */
final class DmaTable {
  /**
   * {@code file} is null if the memory must be requested from the client. Addresses are unsigned.
   */
  private record Range(
      long first,
      long last,
      boolean readable,
      boolean writable,
      ClientFiles.Mapping file,
      long fileOffset) {}

  private final ClientFiles files;
  private final RemoteMemory remote;
  private final DmaFaults faults;

  private Range[] ranges = new Range[16];
  private int count;

  /** How many of the ranges have no file; changed under the monitor. */
  private final AtomicInteger remotes = new AtomicInteger();

  DmaTable(ClientFiles files, RemoteMemory remote, DmaFaults faults) {
    this.files = files;
    this.remote = remote;
    this.faults = faults;
  }

  synchronized int ranges() {
    return count;
  }

  /** Whether an access may have to wait for the client, who has memory without a file. */
  boolean mayWait() {
    return remotes.get() > 0;
  }

  /**
   * Adds a range.
   *
   * @param descriptor of the file that it is in, -1 for none; the caller keeps it
   * @throws Refusal {@code EEXIST} when some of it is mapped, {@code ENOSPC} when there are too
   *     many, or the error of the file
   */
  synchronized void map(
      long first, long length, boolean read, boolean write, int descriptor, long fileOffset) {
    long last = first + length - 1;
    int at = firstNotBelow(first);
    if (at < count && Long.compareUnsigned(ranges[at].first, last) <= 0) {
      throw new Refusal(
          LinuxErrno.EEXIST,
          "0x%x..0x%x is already partly mapped, at 0x%x".formatted(first, last, ranges[at].first));
    }
    if (count == ClientCapabilities.MAX_DMA_MAPS) {
      throw new Refusal(LinuxErrno.ENOSPC, "there are %d maps already".formatted(count));
    }
    ClientFiles.Mapping file =
        descriptor < 0 ? null : files.map(descriptor, fileOffset, length, write);
    if (count == ranges.length) {
      ranges = Arrays.copyOf(ranges, 2 * count);
    }
    System.arraycopy(ranges, at, ranges, at + 1, count - at);
    ranges[at] = new Range(first, last, read, write, file, fileOffset);
    count++;
    if (file == null) {
      int _ = remotes.incrementAndGet();
    }
  }

  /**
   * Removes every range within {@code length} bytes from {@code first}, as the kernel's VFIO does:
   * a virtual machine monitor takes back in one command what an I/O page table mapped page by page.
   *
   * @throws Refusal {@code EINVAL} when the bytes are none, wrap, or begin or end within a range;
   *     {@code ENOENT} when there is no range
   */
  synchronized void unmap(long first, long length) {
    long last = first + length - 1;
    if (length == 0 || Long.compareUnsigned(last, first) < 0) {
      throw Refusal.invalid("0x%x bytes at 0x%x".formatted(length, first));
    }
    int from = firstNotBelow(first);
    int to = firstNotBelow(last);
    if (to < count && Long.compareUnsigned(ranges[to].first, last) <= 0) {
      to++;
    }
    if (from == to) {
      throw new Refusal(
          LinuxErrno.ENOENT, "0x%x bytes at 0x%x are not mapped".formatted(length, first));
    }
    if (Long.compareUnsigned(ranges[from].first, first) < 0
        || Long.compareUnsigned(ranges[to - 1].last, last) > 0) {
      throw Refusal.invalid("0x%x bytes at 0x%x split a mapping".formatted(length, first));
    }
    remove(from, to);
  }

  synchronized void clear() {
    remove(0, count);
    ranges = new Range[16];
  }

  private void remove(int from, int to) {
    for (int i = from; i < to; i++) {
      if (ranges[i].file == null) {
        int _ = remotes.decrementAndGet();
      } else {
        ranges[i].file.release();
      }
    }
    System.arraycopy(ranges, to, ranges, from, count - to);
    Arrays.fill(ranges, count - (to - from), count, null);
    count -= to - from;
  }

  /** The index of the first range that ends at an address or above it. */
  private int firstNotBelow(long address) {
    int low = 0;
    int high = count;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (Long.compareUnsigned(ranges[middle].last, address) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  boolean read(long iova, MemorySegment destination, long offset, long length) {
    return move(iova, destination, offset, length, false);
  }

  boolean write(long iova, MemorySegment source, long offset, long length) {
    return move(iova, source, offset, length, true);
  }

  private synchronized boolean move(
      long iova, MemorySegment memory, long offset, long length, boolean write) {
    if (length == 0) {
      return true;
    }
    int at = firstNotBelow(iova);
    if (!check(at, iova, length, write)) {
      return false;
    }
    long done = 0;
    while (done < length) {
      Range range = ranges[at++];
      long from = iova + done;
      long part = Math.min(length - done, range.last - from + 1);
      boolean moved =
          write
              ? writePart(range, from, memory, offset + done, part)
              : readPart(range, from, memory, offset + done, part);
      if (!moved) {
        return fault(
            iova,
            length,
            write,
            range.file == null ? "the client did not serve it" : "the client's memory is gone");
      }
      done += part;
    }
    return true;
  }

  /** Whether all of an access is allowed, before any of it is done. */
  private boolean check(int at, long iova, long length, boolean write) {
    long last = iova + length - 1;
    if (Long.compareUnsigned(last, iova) < 0) {
      return fault(iova, length, write, "not mapped");
    }
    long next = iova;
    for (int i = at; i < count; i++) {
      Range range = ranges[i];
      if (Long.compareUnsigned(range.first, next) > 0) {
        break;
      }
      if (write ? !range.writable : !range.readable) {
        return fault(iova, length, write, write ? "mapped read-only" : "mapped write-only");
      }
      if (Long.compareUnsigned(range.last, last) >= 0) {
        return true;
      }
      next = range.last + 1;
    }
    return fault(iova, length, write, "not mapped");
  }

  private boolean readPart(
      Range range, long iova, MemorySegment destination, long offset, long length) {
    if (range.file == null) {
      return remote.read(iova, destination, offset, length);
    }
    try {
      long at = range.fileOffset + iova - range.first;
      MemorySegment.copy(range.file.memory(), at, destination, offset, length);
      LostPages.throwFault();
      return true;
    } catch (InternalError e) {
      return false;
    }
  }

  private boolean writePart(
      Range range, long iova, MemorySegment source, long offset, long length) {
    if (range.file == null) {
      return remote.write(iova, source, offset, length);
    }
    try {
      MemorySegment memory = range.file.memory();
      long at = range.fileOffset + iova - range.first;
      OrderedCopy.copy(source, offset, memory, at, length);
      LostPages.throwFault();
      return true;
    } catch (InternalError e) {
      return false;
    }
  }

  private boolean fault(long iova, long length, boolean write, String cause) {
    faults.record(iova, length, write, cause);
    return false;
  }
}
