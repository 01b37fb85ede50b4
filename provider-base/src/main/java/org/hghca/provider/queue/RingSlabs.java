package org.hghca.provider.queue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.LongFunction;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.RangeAllocator;

/**
 * Memory of rings, cut from slabs: a slab is mapped for the card once and holds many rings. A ring
 * that is too long to share one gets its own slab. A slab is freed with its last piece. An owner
 * may have one empty slab kept, so that rings that are repeatedly opened and closed need no
 * mapping. Thread-safe.
 *
 * @param <S> the owner's type of a slab
 */
public final class RingSlabs<S extends RingSlabs.Backing> implements AutoCloseable {
  /**
   * The first slab, as an owner may have few rings: those of one queue pair with 128 requests each
   * way. Each further one is twice as large.
   */
  private static final long FIRST_BYTES = 1 << 15;

  private static final long SLAB_BYTES = 1 << 20;

  /** Memory that the card accesses, and the action that frees it. */
  public interface Backing {
    DmaMapping mapping();

    void close();
  }

  private final LongFunction<S> source;
  private final long granule;
  private final boolean keepsOne;
  private final List<Slab> slabs = new ArrayList<>();

  /** A new slab has no pieces and is in no list. */
  private Slab spare;

  private long nextBytes = FIRST_BYTES;
  private boolean closed;

  /**
   * Slabs are created on demand.
   *
   * @param source makes the memory of a slab of the given size
   * @param granule alignment of pieces in bytes; a power of two
   * @param keepsOne whether one empty slab is kept until {@link #close}
   */
  public RingSlabs(LongFunction<S> source, long granule, boolean keepsOne) {
    this.source = source;
    this.granule = granule;
    this.keepsOne = keepsOne;
  }

  private final class Slab {
    final S backing;
    final RangeAllocator free;

    Slab(S backing) {
      this.backing = backing;
      this.free = new RangeAllocator(0, backing.mapping().segment().byteSize(), granule);
    }
  }

  /** A piece of a slab. Closing frees it; the card must have released it. */
  public final class Piece implements DmaMapping {
    private final Slab slab;
    private final long offset;
    private final MemorySegment segment;
    private boolean closed;

    private Piece(Slab slab, long offset, long bytes) {
      this.slab = slab;
      this.offset = offset;
      this.segment = slab.backing.mapping().segment().asSlice(offset, bytes);
    }

    /** The slab that it is cut from. */
    public S slab() {
      return slab.backing;
    }

    /** Its offset in its slab, in bytes. */
    public long offset() {
      return offset;
    }

    @Override
    public MemorySegment segment() {
      return segment;
    }

    @Override
    public long iova(long within) {
      return slab.backing.mapping().iova(offset + Objects.checkIndex(within, segment.byteSize()));
    }

    @Override
    public DmaAccess access() {
      return slab.backing.mapping().access();
    }

    @Override
    public void close() {
      synchronized (RingSlabs.this) {
        if (!closed) {
          closed = true;
          giveBack(slab, offset);
        }
      }
    }
  }

  /**
   * Cuts a piece, zeroed.
   *
   * @param bytes at least 1
   */
  public synchronized Piece allocate(long bytes) {
    Piece piece = cut(bytes);
    piece.segment.fill((byte) 0);
    return piece;
  }

  private Piece cut(long bytes) {
    if (2 * bytes > SLAB_BYTES) {
      return take(new Slab(source.apply(bytes + granule - 1 & -granule)), bytes);
    }
    // The newest first: old ones are mostly full.
    for (int i = slabs.size() - 1; i >= 0; i--) {
      OptionalLong offset = slabs.get(i).free.allocate(bytes);
      if (offset.isPresent()) {
        return new Piece(slabs.get(i), offset.getAsLong(), bytes);
      }
    }
    Slab kept = spare;
    if (kept != null && kept.backing.mapping().segment().byteSize() >= bytes) {
      spare = null;
      return take(kept, bytes);
    }
    while (nextBytes < 2 * bytes) {
      nextBytes *= 2;
    }
    Slab fresh = new Slab(source.apply(nextBytes));
    nextBytes = Math.min(SLAB_BYTES, 2 * nextBytes);
    return take(fresh, bytes);
  }

  private Piece take(Slab slab, long bytes) {
    slabs.add(slab);
    return new Piece(slab, slab.free.allocate(bytes).orElseThrow(), bytes);
  }

  private void giveBack(Slab slab, long offset) {
    slab.free.free(offset);
    if (slab.free.inUse() > 0) {
      return;
    }
    slabs.remove(slab);
    if (keepsOne
        && spare == null
        && !closed
        && slab.backing.mapping().segment().byteSize() <= SLAB_BYTES) {
      spare = slab;
    } else {
      slab.backing.close();
    }
  }

  /** Stops caching: empty slabs are freed now, the others with their last piece. */
  @Override
  public synchronized void close() {
    closed = true;
    if (spare != null) {
      spare.backing.close();
      spare = null;
    }
  }
}
