package org.hghca.vfio.dma;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.MemorySource;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * Page-aligned memory that is handed out zeroed and reused. Sizes are rounded up, so that other
 * users can reuse freed pieces: to a power of two pages, and above a huge page by at most a
 * quarter, to whole huge pages. Larger free pieces serve smaller requests. Callers synchronize.
 *
 * <p>Free memory beyond 32 MiB or an eighth of the memory in use, whichever is larger, is returned
 * to the system. A device has two pools, for itself and for its programs, which together keep at
 * most 64 MiB or a quarter. Whole chunks of the source are returned first, then the pages of free
 * parts.
 */
public final class PagePool implements AutoCloseable {
  private static final long KEPT = 32 << 20;
  private static final int KEPT_SHARE = 8;

  /** malloc(3) may keep freed pieces of at most this many bytes (M_MMAP_THRESHOLD). */
  private static final long MALLOC_KEEPS = 32 << 20;

  /** The user address space on x86-64, in bytes. */
  private static final long ADDRESS_SPACE = 1L << 47;

  /** One allocation of the source, with its own lifetime. */
  private record Chunk(Arena arena, MemorySegment memory) {}

  /**
   * A free part of a chunk, between its neighbors in use.
   *
   * @param present whether it may have pages; else it reads as zero
   */
  private record Piece(Chunk chunk, long address, long bytes, boolean present) {
    long end() {
      return address + bytes;
    }

    boolean isWhole() {
      return bytes == chunk.memory.byteSize();
    }

    MemorySegment memory() {
      return chunk.memory.asSlice(address - chunk.memory.address(), bytes);
    }
  }

  private static final Comparator<Piece> BY_SIZE =
      Comparator.comparingLong(Piece::bytes).thenComparingLong(Piece::address);

  private final MemorySource source;

  /** By address. */
  private final TreeMap<Long, Chunk> chunks = new TreeMap<>();

  /** By address. */
  private final TreeMap<Long, Piece> free = new TreeMap<>();

  private final TreeSet<Piece> bySize = new TreeSet<>(BY_SIZE);

  /** Memory that can be returned to the system: completely free chunks, and the other pieces. */
  private final TreeSet<Piece> whole = new TreeSet<>(BY_SIZE);

  private final TreeSet<Piece> parts = new TreeSet<>(BY_SIZE);

  private long inUse;
  private long kept;

  public PagePool(MemorySource source) {
    this.source = source;
  }

  /** Rounds up to whole pages; the result is negative on overflow. */
  public static long wholePages(long bytes) {
    return bytes + DmaMapping.PAGE_SIZE - 1 & -DmaMapping.PAGE_SIZE;
  }

  /** Memory in use, in bytes. */
  public long inUse() {
    return inUse;
  }

  /** Free memory that still has pages, in bytes. */
  public long kept() {
    return kept;
  }

  /**
   * Allocates memory of at least some bytes, which must be freed as a whole.
   *
   * @throws VfioException {@code NO_MEMORY} when there is none
   */
  public MemorySegment take(long bytes) {
    long size = slabSize(bytes);
    if (size <= 0 || size > ADDRESS_SPACE) {
      throw VfioException.outOfMemory(bytes, null);
    }
    for (Piece piece : bySize.tailSet(new Piece(null, 0, size, false))) {
      long at = place(piece, size);
      if (at >= piece.address) {
        return carve(piece, at, size);
      }
    }
    Piece fresh = grow(Math.max(size, source.grain()));
    return carve(fresh, fresh.address, size);
  }

  /**
   * The position of an allocation in a free piece: whole huge pages at a huge page boundary,
   * smaller ones at the end, so that the rest keeps its start. Below the start of the piece if it
   * does not fit.
   */
  private static long place(Piece piece, long size) {
    if (size < MemorySource.HUGE_PAGE) {
      return piece.end() - size;
    }
    long base = piece.chunk.memory.address();
    long aligned =
        base + (piece.address - base + MemorySource.HUGE_PAGE - 1 & -MemorySource.HUGE_PAGE);
    return aligned + size <= piece.end() ? aligned : -1;
  }

  private MemorySegment carve(Piece piece, long at, long size) {
    remove(piece);
    if (at > piece.address) {
      add(new Piece(piece.chunk, piece.address, at - piece.address, piece.present));
    }
    if (at + size < piece.end()) {
      add(new Piece(piece.chunk, at + size, piece.end() - at - size, piece.present));
    }
    inUse += size;
    MemorySegment memory = new Piece(piece.chunk, at, size, piece.present).memory();
    return piece.present ? memory.fill((byte) 0) : memory;
  }

  /** A chunk from the source; if the source fails, cached memory is returned first. */
  private Piece grow(long bytes) {
    try {
      return chunk(bytes);
    } catch (VfioException e) {
      if (e.reason() != Reason.NO_MEMORY || kept == 0) {
        throw e;
      }
      keepAtMost(0);
      return chunk(bytes);
    }
  }

  private Piece chunk(long bytes) {
    Arena arena = Arena.ofShared();
    try {
      MemorySegment memory = source.allocate(arena, bytes);
      Chunk chunk = new Chunk(arena, memory);
      chunks.put(memory.address(), chunk);
      Piece piece = new Piece(chunk, memory.address(), bytes, false);
      add(piece);
      return piece;
    } catch (RuntimeException e) {
      arena.close();
      throw e;
    }
  }

  /** The rounded size of an allocation; not positive on overflow. */
  private static long slabSize(long bytes) {
    long pages = wholePages(bytes);
    long power = Long.highestOneBit(pages - 1) << 1;
    if (power <= MemorySource.HUGE_PAGE) {
      return Math.max(pages, power);
    }
    long step = Math.max(MemorySource.HUGE_PAGE, power / 8);
    return pages + step - 1 & -step;
  }

  /** Frees an allocation, which must no longer be accessed. */
  public void giveBack(MemorySegment memory) {
    inUse -= memory.byteSize();
    Chunk chunk = chunks.floorEntry(memory.address()).getValue();
    Piece piece = new Piece(chunk, memory.address(), memory.byteSize(), true);
    Map.Entry<Long, Piece> below = free.lowerEntry(piece.address);
    if (below != null && touches(below.getValue(), piece)) {
      remove(below.getValue());
      long address = below.getValue().address;
      piece = new Piece(chunk, address, piece.end() - address, true);
    }
    Piece above = free.get(piece.end());
    if (above != null && touches(piece, above)) {
      remove(above);
      piece = new Piece(chunk, piece.address, above.end() - piece.address, true);
    }
    add(piece);
    keepAtMost(Math.max(KEPT, inUse / KEPT_SHARE));
  }

  private static boolean touches(Piece lower, Piece upper) {
    return lower.chunk.equals(upper.chunk) && lower.end() == upper.address;
  }

  private void keepAtMost(long bytes) {
    while (kept > bytes && !whole.isEmpty()) {
      Piece piece = whole.last();
      remove(piece);
      chunks.remove(piece.address);
      if (piece.bytes <= MALLOC_KEEPS) {
        source.discard(piece.memory());
      }
      piece.chunk.arena.close();
    }
    while (kept > bytes && !parts.isEmpty()) {
      Piece piece = parts.last();
      if (!source.discard(piece.memory())) {
        return;
      }
      remove(piece);
      add(new Piece(piece.chunk, piece.address, piece.bytes, false));
    }
  }

  private void add(Piece piece) {
    free.put(piece.address, piece);
    bySize.add(piece);
    if (piece.present) {
      kept += piece.bytes;
      (piece.isWhole() ? whole : parts).add(piece);
    }
  }

  private void remove(Piece piece) {
    free.remove(piece.address);
    bySize.remove(piece);
    if (piece.present) {
      kept -= piece.bytes;
      (piece.isWhole() ? whole : parts).remove(piece);
    }
  }

  /** Returns all memory to the system, including memory in use. */
  @Override
  public void close() {
    free.clear();
    bySize.clear();
    whole.clear();
    parts.clear();
    kept = 0;
    inUse = 0;
    chunks.values().forEach(chunk -> chunk.arena.close());
    chunks.clear();
  }
}
