package org.hghca.virtio.driver;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.hghca.provider.queue.LockRank;
import org.hghca.provider.queue.OwnerCheck;
import org.hghca.provider.queue.SpinLock;
import org.hghca.vfio.PciFunction;
import org.hghca.virtio.Virtqueue;

/**
 * The requests of one direction of a queue pair. A request is a buffer of the virtqueue, in the
 * slot of its position; it is outstanding until its completion, or that of a later one, is polled.
 * What identifies it to the device is its position, and its direction.
 *
 * <p>Posting is under the queue's lock; completing under that of a completion queue.
 */
abstract class WorkQueue {
  private static final long RECEIVE = 1L << 32;
  private static final VarHandle HEAD;
  private static final VarHandle TAIL;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      HEAD = lookup.findVarHandle(WorkQueue.class, "head", int.class);
      TAIL = lookup.findVarHandle(WorkQueue.class, "tail", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Virtqueue queue;
  private final SlotMemory memory;
  private final int slotBytes;
  private final int depth;
  private final long direction;
  private final long[] wrIds;

  /** Null for a queue of a single owner. */
  private final SpinLock lock;

  /** Null for a queue with a lock. */
  private final OwnerCheck owner;

  /** Position of the next request: free-running, as all positions. */
  private int head;

  /** Position of the oldest outstanding request. */
  private int tail;

  private long posted;
  private long kicks;
  private long failures;

  /**
   * Without requests.
   *
   * @param depth most outstanding requests, at most the size of the virtqueue
   * @param slotBytes of a request's buffer, a power of two
   * @param rank of the locks of its direction
   * @param lock null for a queue of a single owner
   * @param owner null for a queue with a lock
   */
  WorkQueue(
      PciFunction function,
      Virtqueue queue,
      int depth,
      int slotBytes,
      LockRank rank,
      SpinLock lock,
      OwnerCheck owner) {
    this.queue = queue;
    this.depth = depth;
    this.slotBytes = slotBytes;
    this.direction = rank == LockRank.RECEIVES ? RECEIVE : 0;
    this.lock = lock;
    this.owner = owner;
    int slots = slot(Math.max(1, depth));
    this.wrIds = new long[slots];
    this.memory = SlotMemory.allocate(function, slots, slotBytes);
  }

  final void lock() {
    if (lock != null) {
      lock.lock();
    } else {
      assert owner.begin();
    }
  }

  final void unlock() {
    if (lock != null) {
      lock.unlock();
    } else {
      assert owner.end();
    }
  }

  // ---- posting, under the lock

  /** Whether another request can be posted. */
  final boolean hasRoom() {
    if (head - (int) TAIL.getAcquire(this) >= depth) {
      return false;
    }
    // A completion frees the request; that the device has used its buffer frees the slot.
    if (buffers() >= wrIds.length) {
      reclaim();
    }
    return buffers() < wrIds.length;
  }

  /** Number of buffers that the device has, as far as they were not taken back. */
  private int buffers() {
    return queue.size() - queue.free();
  }

  private void reclaim() {
    while (queue.poll() != Virtqueue.NONE) {
      // Buffers come back in order.
    }
  }

  final MemorySegment bytes() {
    return memory.bytes();
  }

  /** Where the next request is written. */
  final long place() {
    return (long) (head & wrIds.length - 1) * slotBytes;
  }

  /** What the device is told of the next request, to return it in the completion. */
  final long cookie() {
    return head & 0xffff_ffffL | direction;
  }

  /** Hands the request over that was written; the device sees it after {@link #kick}. */
  final void submit(int bytes, long wrId) {
    int slot = head & wrIds.length - 1;
    wrIds[slot] = wrId;
    int _ = queue.submit(memory.address(slot), bytes, false);
    HEAD.setRelease(this, head + 1);
    posted++;
  }

  /** Makes what was submitted visible to the device. */
  final void kick() {
    if (queue.kick()) {
      kicks++;
    }
  }

  // ---- completing, under the lock of the completion queue

  static boolean isReceive(long cookie) {
    return (cookie & RECEIVE) != 0;
  }

  /** Whether the request of a completion is outstanding. */
  final boolean isOutstanding(long cookie) {
    int position = (int) cookie;
    return cookie >>> 33 == 0 && position - tail >= 0 && (int) HEAD.getAcquire(this) - position > 0;
  }

  /** The {@code wr_id} of an outstanding request. */
  final long wrId(long cookie) {
    return wrIds[(int) cookie & wrIds.length - 1];
  }

  /** The request is complete, and all before it: others can be posted in their place. */
  final void complete(long cookie) {
    TAIL.setRelease(this, (int) cookie + 1);
  }

  /** A request has failed, and was not flushed. */
  final void countFailure() {
    failures++;
  }

  /** Number of requests that have failed. */
  final long failures() {
    return failures;
  }

  /**
   * All requests are gone without completions: the queue pair was reset. Under the lock of the
   * completion queue, while nothing is posted.
   */
  final void clear() {
    reclaim();
    TAIL.setRelease(this, head);
  }

  final long posted() {
    return posted;
  }

  final long kicks() {
    return kicks;
  }

  /** Number of slots, a power of two. */
  final int slots() {
    return wrIds.length;
  }

  /** Position of the next request. */
  final int head() {
    return head;
  }

  /** Position of the oldest outstanding request. */
  final int tail() {
    return (int) TAIL.getAcquire(this);
  }

  /** Positions and outstanding requests, for logs. */
  final String standing() {
    int from = tail();
    int to = head;
    return "%d of %d outstanding (head %d, tail %d)".formatted(to - from, depth, to, from);
  }

  /** Frees the memory: the device does not use it. */
  final void close() {
    memory.close();
  }

  /** The slot of a request of so many bytes: a power of two. */
  static int slot(int bytes) {
    return Integer.highestOneBit(2 * bytes - 1);
  }
}
