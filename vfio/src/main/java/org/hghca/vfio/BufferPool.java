package org.hghca.vfio;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * Page-aligned memory for application data. Each buffer is a segment with a lifetime of its own, so
 * that touching it after its end throws instead of reaching what somebody else was given since. The
 * memory itself is kept and used again. Thread-safe.
 */
public final class BufferPool implements AutoCloseable {
  private final Arena arena;
  private final Map<Long, ArrayDeque<MemorySegment>> free = new HashMap<>();
  private int lent;
  private boolean closed;

  public BufferPool() {
    this(Arena.ofShared());
  }

  /** A pool of an arena that the pool closes. */
  BufferPool(Arena arena) {
    this.arena = arena;
  }

  /** A piece of zeroed memory; closing ends its life. Closing twice does nothing. */
  public static final class Buffer implements AutoCloseable {
    private final BufferPool pool;
    private final MemorySegment slab;
    private final Arena life = Arena.ofShared();
    private final MemorySegment segment;

    @SuppressWarnings("restricted")
    private Buffer(BufferPool pool, MemorySegment slab, long bytes) {
      this.pool = pool;
      this.slab = slab;
      this.segment = MemorySegment.ofAddress(slab.address()).reinterpret(bytes, life, null);
    }

    /** The memory, exactly as long as was asked for; any thread may use it. */
    public MemorySegment segment() {
      return segment;
    }

    /**
     * Ends the buffer's life.
     *
     * @throws IllegalStateException while native code is using the memory; the buffer lives on
     */
    @Override
    public synchronized void close() {
      if (life.scope().isAlive()) {
        life.close();
        pool.giveBack(slab);
      }
    }
  }

  /**
   * Lends memory.
   *
   * @param bytes at least 1
   * @throws VfioException {@code INVALID} when bytes is not positive; {@code NO_MEMORY} when there
   *     is none; {@code CLOSED} after the pool's end
   */
  public synchronized Buffer allocate(long bytes) {
    if (closed) {
      throw new VfioException(VfioException.Reason.CLOSED, "the buffer pool is closed");
    }
    if (bytes <= 0) {
      throw new VfioException(
          VfioException.Reason.INVALID, "cannot allocate %d bytes".formatted(bytes));
    }
    long size = PagePool.wholePages(bytes);
    ArrayDeque<MemorySegment> left = free.get(size);
    MemorySegment slab =
        left != null && !left.isEmpty()
            ? left.removeLast().fill((byte) 0)
            : PagePool.fresh(arena, bytes, size);
    lent++;
    return new Buffer(this, slab, bytes);
  }

  private synchronized void giveBack(MemorySegment slab) {
    lent--;
    if (closed) {
      closeArena();
    } else {
      free.computeIfAbsent(slab.byteSize(), size -> new ArrayDeque<>()).addLast(slab);
    }
  }

  /** Ends the pool: its memory goes back to the system with the last buffer that is lent. */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      closeArena();
    }
  }

  private void closeArena() {
    if (lent == 0) {
      arena.close();
    }
  }
}
