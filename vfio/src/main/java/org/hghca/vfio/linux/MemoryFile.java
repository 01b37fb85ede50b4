package org.hghca.vfio.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SealedFile;
import org.hghca.linux.SystemCalls;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.vfio.MemorySource;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * Memory that another process can share: each piece is a file without a name (memfd_create(2)) that
 * is mapped here. All pieces of the process are known, so that the file behind an address can be
 * found. In huge pages where the system has them. Thread-safe.
 *
 * <p>The files are sealed in their size: a process that receives a descriptor cannot truncate the
 * file.
 */
public final class MemoryFile implements MemorySource {
  private static final ConditionLog LOG = ConditionLog.of(MemoryFile.class);

  private static final String NAME = "hghca";

  // linux/memfd.h
  private static final int MFD_HUGETLB = 0x4;

  /** The logarithm of the size of a page, in bits 26 to 31. */
  private static final int MFD_HUGE_2MB = 21 << 26;

  // linux/falloc.h
  private static final int PUNCH_HOLE_KEEP_SIZE = 0x2 | 0x1;

  // asm-generic/mman.h
  private static final int PROT_READ = 0x1;
  private static final int PROT_WRITE = 0x2;
  private static final int MAP_SHARED = 0x1;
  private static final int MAP_PRIVATE = 0x2;
  private static final int MAP_ANONYMOUS = 0x20;

  /** By address. */
  private static final ConcurrentSkipListMap<Long, MemoryFile.Piece> PIECES =
      new ConcurrentSkipListMap<>();

  private final SystemCalls linux;

  public MemoryFile(SystemCalls linux) {
    this.linux = linux;
  }

  /**
   * The part of a file behind a range of addresses. The descriptor is valid until this is closed,
   * even if the memory ends earlier.
   */
  public static final class FileRange implements AutoCloseable {
    private final Piece piece;
    private final long offset;
    private boolean closed;

    private FileRange(Piece piece, long offset) {
      this.piece = piece;
      this.offset = offset;
    }

    public int descriptor() {
      return piece.descriptor;
    }

    /** Where in the file the range starts, in bytes. */
    public long offset() {
      return offset;
    }

    @Override
    public synchronized void close() {
      if (!closed) {
        closed = true;
        piece.release();
      }
    }
  }

  /** A file that is open while it is mapped or its descriptor is in use. */
  private static final class Piece {
    final SystemCalls linux;
    final int descriptor;
    final long address;
    final long bytes;
    private int users = 1;

    Piece(SystemCalls linux, int descriptor, long address, long bytes) {
      this.linux = linux;
      this.descriptor = descriptor;
      this.address = address;
      this.bytes = bytes;
    }

    synchronized boolean use() {
      if (users == 0) {
        return false;
      }
      users++;
      return true;
    }

    synchronized void release() {
      if (--users == 0) {
        linux.close(descriptor);
      }
    }

    void end() {
      PIECES.remove(address, this); // First, because the addresses may be reused at once.
      linux.munmap(address, bytes);
      release();
    }
  }

  /**
   * The file behind a range of addresses.
   *
   * @return empty where the range is not within one piece of such memory
   */
  public static Optional<FileRange> of(long address, long bytes) {
    Map.Entry<Long, Piece> below = PIECES.floorEntry(address);
    if (below == null) {
      return Optional.empty();
    }
    Piece piece = below.getValue();
    long offset = address - piece.address;
    if (bytes < 0 || offset > piece.bytes - bytes || !piece.use()) {
      return Optional.empty();
    }
    return Optional.of(new FileRange(piece, offset));
  }

  /** Each piece takes a descriptor, of which a process has a few thousand. */
  @Override
  public long grain() {
    return HUGE_PAGE;
  }

  @Override
  public boolean discard(MemorySegment memory) {
    try (FileRange range = of(memory.address(), memory.byteSize()).orElse(null)) {
      return range != null
          && linux.fallocate(
                  range.descriptor(), PUNCH_HOLE_KEEP_SIZE, range.offset(), memory.byteSize())
              == 0;
    }
  }

  @Override
  public MemorySegment allocate(Arena arena, long bytes) {
    if (bytes % HUGE_PAGE == 0) {
      // Pages that a control group refuses would cause a signal at the first access: allocating
      // them now gives an error that can be handled.
      int file = SealedFile.create(linux, NAME, bytes, MFD_HUGETLB | MFD_HUGE_2MB, true);
      long address = file < 0 ? file : map(file, bytes);
      if (address >= 0) {
        return segment(arena, file, address, bytes);
      }
      LOG.debug(
          About.NOTHING, "no huge pages for {} bytes: {}", bytes, LinuxErrno.describe(address));
    }
    checkAvailable(bytes);
    int file = SealedFile.create(linux, NAME, bytes, 0, false);
    long address = file < 0 ? file : map(file, bytes);
    if (LinuxErrno.EMFILE.is(address) || LinuxErrno.ENFILE.is(address)) {
      throw new VfioException(
          Reason.NO_MEMORY,
          "no descriptor is left for memory of %d bytes that a device shares: raise ulimit -n"
              .formatted(bytes));
    }
    if (address < 0) {
      throw LinuxErrno.ENOMEM.is(address)
          ? VfioException.outOfMemory(bytes, null)
          : new VfioException(
              Reason.UNSUPPORTED,
              "the kernel gives no memory that a device can share, memfd_create(2): "
                  + LinuxErrno.describe(address));
    }
    return segment(arena, file, address, bytes);
  }

  /**
   * A file may have any size, and missing pages show only at the first access: for private memory
   * the kernel reports in advance if there can never be enough.
   */
  private void checkAvailable(long bytes) {
    long address = linux.mmap(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address < 0) {
      throw VfioException.outOfMemory(bytes, null);
    }
    linux.munmap(address, bytes);
  }

  /** Maps a new file, or closes it. */
  private long map(int file, long bytes) {
    long result = linux.mmap(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (result < 0) {
      linux.close(file);
    }
    return result;
  }

  @SuppressWarnings("restricted")
  private MemorySegment segment(Arena arena, int file, long address, long bytes) {
    Piece piece = new Piece(linux, file, address, bytes);
    PIECES.put(address, piece);
    try {
      return MemorySegment.ofAddress(address).reinterpret(bytes, arena, gone -> piece.end());
    } catch (RuntimeException e) {
      piece.end(); // The arena is closed.
      throw e;
    }
  }
}
