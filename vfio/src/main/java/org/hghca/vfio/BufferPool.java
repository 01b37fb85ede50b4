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
  private final Arena arena = Arena.ofShared();
  private final Map<Long, ArrayDeque<MemorySegment>> free = new HashMap<>();
  private int lent;
  private boolean closed;

  /** A piece of zeroed memory; closing ends its life. Closing twice does nothing. */
  public static final class Buffer implements AutoCloseable {
    private final BufferPool pool;
    private final MemorySegment slab;
    private final Arena life = Arena.ofShared();
    private final MemorySegment segment;
    private boolean closed;

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

    @Override
    public synchronized void close() {
      if (!closed) {
        closed = true;
        life.close();
        pool.giveBack(slab);
      }
    }
  }

  /**
   * Lends memory.
   *
   * @param bytes at least 1
   * @throws VfioException {@code NO_MEMORY} when there is none
   */
  public synchronized Buffer allocate(long bytes) {
    if (closed) {
      throw new VfioException(VfioException.Reason.CLOSED, "the buffer pool is closed");
    }
    long size = (bytes + DmaMapping.PAGE_SIZE - 1) & -DmaMapping.PAGE_SIZE;
    if (bytes <= 0 || size <= 0) {
      throw new VfioException(
          VfioException.Reason.INVALID, "cannot allocate %d bytes".formatted(bytes));
    }
    ArrayDeque<MemorySegment> left = free.get(size);
    MemorySegment slab =
        left != null && !left.isEmpty() ? left.removeLast().fill((byte) 0) : fresh(size);
    lent++;
    return new Buffer(this, slab, bytes);
  }

  private MemorySegment fresh(long size) {
    try {
      return arena.allocate(size, DmaMapping.PAGE_SIZE);
    } catch (OutOfMemoryError e) {
      throw new VfioException(
          VfioException.Reason.NO_MEMORY,
          "no native memory for a buffer of %d bytes: free some, or ask for less".formatted(size),
          e);
    }
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
