package org.hghca.vfio.dma;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/** An I/O page table that checks its rules: a violation is an AssertionError. */
final class FakeBackend implements DmaBackend {
  record Entry(long address, long bytes, DmaAccess access, MemorySegment memory) {}

  final Map<Long, Entry> entries = new TreeMap<>();
  List<IovaRange> ranges = List.of(new IovaRange(0, (1L << 39) - 1));
  boolean pinsPages = true;
  int maps;
  int refuseMaps;
  boolean refuseUnmaps;

  @Override
  public synchronized List<IovaRange> ranges() {
    return ranges;
  }

  @Override
  public boolean pinsPages() {
    return pinsPages;
  }

  @Override
  public synchronized void map(
      MemorySegment memory, long address, long bytes, long iova, DmaAccess access) {
    if (refuseMaps > 0) {
      refuseMaps--;
      throw new VfioException(Reason.NO_MEMORY, "refused");
    }
    check((address | bytes | iova) % 4096 == 0 && bytes > 0, "not pages");
    check(address <= memory.address() && address > memory.address() - 4096, "not the first page");
    long beyond = address + bytes - memory.address() - memory.byteSize();
    check(beyond >= 0 && beyond < 4096, "not the last page");
    check(
        ranges.stream()
            .anyMatch(
                r ->
                    Long.compareUnsigned(r.first(), iova) <= 0
                        && Long.compareUnsigned(iova + bytes - 1, r.last()) <= 0),
        "reserved address");
    check(iova >= 0x1_0000, "low address");
    entries.forEach(
        (other, entry) ->
            check(iova + bytes <= other || other + entry.bytes <= iova, "address in use"));
    entries.put(iova, new Entry(address, bytes, access, memory));
    maps++;
  }

  @Override
  public synchronized void unmap(long iova, long bytes) {
    if (refuseUnmaps) {
      throw new VfioException(Reason.INVALID, "refused");
    }
    Entry entry = entries.remove(iova);
    check(entry != null && entry.bytes == bytes, "not what was mapped");
  }

  /** The address of the memory that the device reaches, or -1 where access is refused. */
  synchronized long translate(long iova, boolean write) {
    for (Map.Entry<Long, Entry> mapped : entries.entrySet()) {
      long offset = iova - mapped.getKey();
      Entry entry = mapped.getValue();
      if (offset >= 0 && offset < entry.bytes && (!write || entry.access.writable())) {
        return entry.address + offset;
      }
    }
    return -1;
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
