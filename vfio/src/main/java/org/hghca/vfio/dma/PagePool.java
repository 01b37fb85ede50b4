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
 * Page-aligned memory, given out zeroed and used again. Sizes are rounded up, so that what one user
 * leaves another can take: to a power of two pages, and above a huge page by a quarter at most, to
 * whole huge pages. Larger pieces that are free serve smaller requests. Callers synchronise.
 *
 * <p>What is free goes back to the system beyond 32 MiB or an eighth of what is in use, the larger:
 * a device has two of these, for itself and for its programs, which together keep 64 MiB or a
 * quarter. Whole chunks, as they came from the source, go back first; then the pages of free parts.
 */
public final class PagePool implements AutoCloseable {
  private static final long KEPT = 32 << 20;
  private static final int KEPT_SHARE = 8;

  /** What malloc(3) may keep when it is freed, at most this many bytes (M_MMAP_THRESHOLD). */
  private static final long MALLOC_KEEPS = 32 << 20;

  /** The user address space on x86-64, in bytes. */
  private static final long ADDRESS_SPACE = 1L << 47;

  /** What the source gave at once, with an end of its own. */
  private record Chunk(Arena arena, MemorySegment memory) {}

  /**
   * A free part of a chunk, up to its neighbours in use.
   *
   * @param present whether it may have pages; else it is zero
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

  /** What can go back to the system: chunks that are completely free, and the other pieces. */
  private final TreeSet<Piece> whole = new TreeSet<>(BY_SIZE);

  private final TreeSet<Piece> parts = new TreeSet<>(BY_SIZE);

  private long inUse;
  private long kept;

  public PagePool(MemorySource source) {
    this.source = source;
  }

  /** Rounds up to whole pages; the result is negative when there are no so many. */
  public static long wholePages(long bytes) {
    return bytes + DmaMapping.PAGE_SIZE - 1 & -DmaMapping.PAGE_SIZE;
  }

  /** How much is given out, in bytes. */
  public long inUse() {
    return inUse;
  }

  /** How much is free and still has pages, in bytes. */
  public long kept() {
    return kept;
  }

  /**
   * Takes memory of at least some bytes, to be given back whole.
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
   * Where in a piece memory is taken: whole huge pages where they begin, others from the end, so
   * that what is left begins as before. Below the piece when there is no place.
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

  /** A chunk from the source; what is kept goes back when there is none else. */
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

  /** How much is taken for some bytes; not positive when that overflows. */
  private static long slabSize(long bytes) {
    long pages = wholePages(bytes);
    long power = Long.highestOneBit(pages - 1) << 1;
    if (power <= MemorySource.HUGE_PAGE) {
      return Math.max(pages, power);
    }
    long step = Math.max(MemorySource.HUGE_PAGE, power / 8);
    return pages + step - 1 & -step;
  }

  /** Gives back what was taken, which must not be accessed any more. */
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

  /** Gives everything back to the system, what is in use included. */
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
