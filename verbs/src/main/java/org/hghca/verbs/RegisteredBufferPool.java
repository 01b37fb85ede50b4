package org.hghca.verbs;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Buffers of one size in one memory region, which are acquired and returned without another
 * registration. The last returned buffer is acquired first, because it is in the caches.
 * Thread-safe; acquiring and returning allocate nothing, make no system call and take no lock,
 * unless a thread must wait.
 *
 * <p>The memory is the protection domain's ({@link ProtectionDomain#allocate}); from a total of 2
 * MiB on it uses huge pages if the system has them.
 */
public final class RegisteredBufferPool implements AutoCloseable {
  /** A cache line of x86-64, which two buffers should not share. */
  private static final long CACHE_LINE = 64;

  private static final long PAGE = 4096;
  private static final int NONE = -1;

  /**
   * More than the possible number of waiters, each of which takes one permit when the pool closes.
   */
  private static final int ENDED = 1 << 30;

  private final MemoryRegion region;
  private final RegisteredBuffer[] buffers;

  /** As many permits as there are buffers on the stack, or soon will be. */
  private final Semaphore available;

  /** The stack: the index of the top in the low half, a change counter in the high half. */
  private final AtomicLong top = new AtomicLong(NONE & 0xffff_ffffL);

  /** The buffer below each buffer of the stack. */
  private final AtomicIntegerArray under;

  private volatile boolean closed;

  private RegisteredBufferPool(MemoryRegion region, int count, long length, long stride) {
    this.region = region;
    this.buffers = new RegisteredBuffer[count];
    this.under = new AtomicIntegerArray(count);
    this.available = new Semaphore(count);
    for (int i = count - 1; i >= 0; i--) {
      buffers[i] = new RegisteredBuffer(this, region, i, i * stride, length);
      push(i);
    }
  }

  /** A pool of buffers that each begin at a cache line; as the other {@code of}. */
  public static RegisteredBufferPool of(
      ProtectionDomain domain, int count, long length, AccessFlag... access) {
    return of(domain, count, length, CACHE_LINE, AccessFlag.setOf(access));
  }

  /**
   * Allocates and registers a pool.
   *
   * @param count how many buffers, at least 1
   * @param length of each in bytes, at least 1
   * @param alignment of each in bytes: a power of two, at most 4096
   * @param access access rights of the device and of peers
   * @throws VerbsException EINVAL when a number is out of its range; else as {@link
   *     ProtectionDomain#allocate}
   */
  public static RegisteredBufferPool of(
      ProtectionDomain domain, int count, long length, long alignment, Set<AccessFlag> access) {
    if (count < 1 || count >= ENDED || length < 1 || length > Long.MAX_VALUE / 2 / count) {
      throw new VerbsException(
          Errno.EINVAL,
          "a pool of %d buffers of %d bytes is not possible".formatted(count, length));
    }
    if (Long.bitCount(alignment) != 1 || alignment < 1 || alignment > PAGE) {
      throw new VerbsException(
          Errno.EINVAL,
          "buffers cannot be aligned to %d bytes: the alignment must be a power of two up to %d"
              .formatted(alignment, PAGE));
    }
    long stride = length + alignment - 1 & -alignment;
    MemoryRegion region = domain.allocate((count - 1) * stride + length, access);
    return new RegisteredBufferPool(region, count, length, stride);
  }

  /** The region that all buffers are parts of. */
  public MemoryRegion region() {
    return region;
  }

  /** Number of buffers. */
  public int size() {
    return buffers.length;
  }

  /** Number of buffers that can be acquired now. */
  public int available() {
    return closed ? 0 : available.availablePermits();
  }

  /**
   * A buffer by its {@linkplain RegisteredBuffer#index index}, which fits into a {@code wr_id}: a
   * completion then leads to the buffer without a table.
   *
   * @throws IndexOutOfBoundsException when there is no such buffer
   */
  public RegisteredBuffer buffer(int index) {
    return buffers[index];
  }

  /**
   * Acquires a buffer if one is available.
   *
   * @return null when there is none
   * @throws VerbsException EINVAL when the pool is closed
   */
  public RegisteredBuffer tryAcquire() {
    return available.tryAcquire() ? take() : null;
  }

  /**
   * Acquires a buffer, and waits until one is available.
   *
   * @throws VerbsException EINVAL when the pool is closed, also meanwhile
   * @throws InterruptedException when the thread is interrupted
   */
  public RegisteredBuffer acquire() throws InterruptedException {
    available.acquire();
    return take();
  }

  /**
   * Acquires a buffer, and waits for one up to a time limit.
   *
   * @return empty after the time limit
   * @throws VerbsException EINVAL when the pool is closed, also meanwhile
   * @throws InterruptedException when the thread is interrupted
   */
  public Optional<RegisteredBuffer> acquire(Duration limit) throws InterruptedException {
    return available.tryAcquire(TimeUnit.NANOSECONDS.convert(limit), TimeUnit.NANOSECONDS)
        ? Optional.of(take())
        : Optional.empty();
  }

  private RegisteredBuffer take() {
    if (closed) {
      available.release(); // for the next waiter
      throw new VerbsException(Errno.EINVAL, "the buffer pool is closed");
    }
    RegisteredBuffer buffer = buffers[pop()];
    buffer.lend();
    return buffer;
  }

  void giveBack(int index) {
    push(index);
    available.release();
  }

  private void push(int index) {
    while (true) {
      long old = top.get();
      under.setPlain(index, (int) old);
      if (top.compareAndSet(old, changed(old, index))) {
        return;
      }
    }
  }

  /** Takes the top; a permit guarantees that there is one. */
  private int pop() {
    while (true) {
      long old = top.get();
      int index = (int) old;
      if (top.compareAndSet(old, changed(old, under.getPlain(index)))) {
        return index;
      }
    }
  }

  /**
   * Replaces the top; the counter prevents a slow thread from mistaking it for the previous one
   * (ABA).
   */
  private static long changed(long old, int index) {
    return ((old >>> 32) + 1) << 32 | index & 0xffff_ffffL;
  }

  /**
   * Deregisters the memory. Idempotent.
   *
   * @throws VerbsException EBUSY, without any change, while buffers are in use or native code uses
   *     the memory
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    if (!available.tryAcquire(buffers.length)) {
      throw new VerbsException(
          Errno.EBUSY,
          "%d of %d buffers are in use: close them first"
              .formatted(buffers.length - available.availablePermits(), buffers.length));
    }
    try {
      region.close();
      closed = true;
    } finally {
      available.release(closed ? ENDED : buffers.length);
    }
  }

  @Override
  public String toString() {
    return closed
        ? "closed buffer pool"
        : "buffer pool, %d of %d buffers available".formatted(available(), buffers.length);
  }
}
