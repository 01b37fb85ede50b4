package org.hghca.vfio.dma;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.linux.MemoryFile;

/**
 * The addresses of a device without an I/O page table, in the kernel's noiommu mode: physical ones,
 * page by page, from {@code /proc/self/pagemap}. Thread-safe.
 *
 * <p>The device can access all memory of the machine, even before a pin and after its release. Only
 * memory of a {@link MemoryFile} is accepted, which is locked until it is freed. This prevents
 * swapping, but the kernel may still move ordinary pages during compaction: use huge pages; {@code
 * vm.compact_unevictable_allowed=0} prevents it.
 */
public final class PhysicalMemory implements AddressSpace {
  private static final long PAGE = DmaMapping.PAGE_SIZE;

  // One entry per page of the process, Documentation/admin-guide/mm/pagemap.rst.
  private static final int ENTRY_SIZE = 8;
  private static final long ENTRY_PRESENT = 1L << 63;
  private static final long ENTRY_FRAME = (1L << 55) - 1;

  private final SystemCalls linux;
  private final Path pagemap;

  public PhysicalMemory(SystemCalls linux) {
    this(linux, Path.of("/proc/self/pagemap"));
  }

  PhysicalMemory(SystemCalls linux, Path pagemap) {
    this.linux = linux;
    this.pagemap = pagemap;
  }

  @Override
  public Pin pin(MemorySegment memory, DmaAccess access) {
    long inPage = memory.address() & PAGE - 1;
    long start = memory.address() - inPage;
    long bytes = PagePool.wholePages(inPage + memory.byteSize());
    if (!isOurs(start, bytes)) {
      throw new VfioException(
          Reason.INVALID,
          "without an IOMMU a device reaches only memory that was allocated for it: allocate it"
              + " from the protection domain");
    }
    int locked = linux.mlock(start, bytes);
    if (locked < 0) {
      throw new VfioException(
          Reason.NO_MEMORY,
          "cannot lock %d bytes into memory: %s; raise ulimit -l"
              .formatted(bytes, LinuxErrno.describe(locked)));
    }
    long[] pages = physical(start, Math.toIntExact(bytes / PAGE));
    return new Pin() {
      @Override
      public long iova(long offset) {
        long at = inPage + offset;
        return pages[(int) (at / PAGE)] + at % PAGE;
      }

      @Override
      public void release() {
        // The device's access cannot be revoked, and unlocking would also unlock pages that others
        // share.
      }
    };
  }

  private static boolean isOurs(long start, long bytes) {
    try (MemoryFile.FileRange range = MemoryFile.of(start, bytes).orElse(null)) {
      return range != null;
    }
  }

  /** The physical addresses of pages that are present. */
  private long[] physical(long start, int count) {
    ByteBuffer entries =
        ByteBuffer.allocate(Math.multiplyExact(count, ENTRY_SIZE)).order(ByteOrder.LITTLE_ENDIAN);
    try (FileChannel file = FileChannel.open(pagemap, StandardOpenOption.READ)) {
      long from = start / PAGE * ENTRY_SIZE;
      while (entries.hasRemaining() && file.read(entries, from + entries.position()) > 0) {
        // A read returns a part.
      }
    } catch (IOException e) {
      throw new VfioException(
          Reason.NO_PERMISSION, "cannot read %s: run as root".formatted(pagemap), e);
    }
    long[] pages = new long[count];
    for (int i = 0; i < count; i++) {
      pages[i] = address(entries.getLong(i * ENTRY_SIZE));
    }
    return pages;
  }

  private long address(long entry) {
    if ((entry & ENTRY_PRESENT) == 0) {
      throw new VfioException(
          Reason.NO_MEMORY, "locked memory is not present according to %s".formatted(pagemap));
    }
    long address = (entry & ENTRY_FRAME) * PAGE;
    if (address == 0) {
      throw new VfioException(
          Reason.NO_PERMISSION,
          "%s hides physical addresses, which DMA needs without an IOMMU: run".formatted(pagemap)
              + " as root (CAP_SYS_ADMIN)");
    }
    if (address < IovaAllocator.LOWEST) {
      throw new VfioException(
          Reason.NO_MEMORY,
          "the kernel gave the physical page 0x%x, where cards send stray DMA: allocate again"
              .formatted(address));
    }
    return address;
  }
}
