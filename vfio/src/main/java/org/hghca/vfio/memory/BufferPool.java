package org.hghca.vfio.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.vfio.MemorySource;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.dma.PagePool;
import org.hghca.vfio.linux.HostCalls;

/**
 * Page-aligned memory for application data. Each buffer is a segment with its own lifetime, so that
 * an access after its end throws instead of reaching the memory of the next user. The memory itself
 * is reused, and the pool caches some of it. Thread-safe.
 */
public final class BufferPool implements AutoCloseable {
  private final PagePool pages;
  private int lent;
  private boolean closed;

  /** A pool of memory that a device shares, such as {@link PciFunction#memory} gives. */
  public BufferPool(MemorySource source) {
    this.pages = new PagePool(source);
  }

  /**
   * A piece of zeroed memory: the program's view, which can end, and the device's view, which stays
   * valid until the buffer is closed.
   */
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

    /** The memory, exactly of the requested length; any thread may use it. */
    public MemorySegment segment() {
      return segment;
    }

    /** The device's view of the same bytes; it stays valid until the buffer is closed. */
    public MemorySegment deviceMemory() {
      return slab.asSlice(0, segment.byteSize());
    }

    /**
     * Ends the program's access: touching {@link #segment} throws from now on. Ending twice does
     * nothing.
     *
     * @throws IllegalStateException while native code is using the memory; the buffer stays open
     */
    public synchronized void end() {
      if (life.scope().isAlive()) {
        life.close();
      }
    }

    /**
     * Ends the program's access and frees the memory: no device may access it any more. Closing
     * twice does nothing.
     *
     * @throws IllegalStateException while native code is using the memory; the buffer stays open
     */
    @Override
    public synchronized void close() {
      end();
      if (!closed) {
        closed = true;
        pool.giveBack(slab);
      }
    }
  }

  /**
   * Lends memory.
   *
   * @param bytes at least 1
   * @throws VfioException {@code INVALID} when bytes is not positive; {@code NO_MEMORY} when there
   *     is none; {@code NO_PERMISSION} when the JVM allows no native access; {@code CLOSED} after
   *     the pool's end
   */
  public synchronized Buffer allocate(long bytes) {
    if (closed) {
      throw new VfioException(VfioException.Reason.CLOSED, "the buffer pool is closed");
    }
    if (bytes <= 0) {
      throw new VfioException(
          VfioException.Reason.INVALID, "cannot allocate %d bytes".formatted(bytes));
    }
    HostCalls.checkNativeAccess();
    MemorySegment slab = pages.take(bytes);
    lent++;
    return new Buffer(this, slab, bytes);
  }

  private synchronized void giveBack(MemorySegment slab) {
    lent--;
    if (closed) {
      closePages();
    } else {
      pages.giveBack(slab);
    }
  }

  /** Closes the pool: its memory is returned to the system with the last open buffer. */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      closePages();
    }
  }

  private void closePages() {
    if (lent == 0) {
      pages.close();
    }
  }
}
