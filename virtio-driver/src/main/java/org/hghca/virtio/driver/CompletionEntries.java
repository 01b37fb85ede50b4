package org.hghca.virtio.driver;

import java.lang.foreign.MemorySegment;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.direct.RingMemory;
import org.hghca.virtio.Virtqueue;
import org.hghca.virtio.abi.roce.CompletionEntry;
import org.hghca.virtio.abi.roce.CompletionStatus;

/**
 * The virtqueue of a completion queue: a buffer for each entry that the device is to write, which
 * goes back to the device when the entry was read. Under the lock of the completion queue.
 */
final class CompletionEntries {
  private static final int SLOT = 64;

  private final Virtqueue queue;
  private final SlotMemory memory;
  private final MemorySegment slots;

  /** Where {@link #slots} begins in {@link RingMemory#guardedSegment}. */
  private final long base;

  /** Number of buffers that the device was given: one for each entry that it is to write. */
  private int offers;

  /** Gives the device a number of buffers; it sees them after {@link #kick}. */
  CompletionEntries(PciFunction function, Virtqueue queue, int buffers) {
    this.queue = queue;
    this.memory = SlotMemory.allocate(function, buffers, SLOT);
    this.slots = memory.bytes();
    RingMemory ring = RingMemory.guarded(slots);
    ring.checkHolds((long) buffers * SLOT);
    this.base = ring.at(0);
    // A buffer is that of the descriptor which is next, so that an entry has one.
    for (int i = 0; i < buffers; i++) {
      int _ = queue.submit(memory.address(queue.nextId()), CompletionEntry.SIZE, true);
      queue.publish();
    }
    this.offers = buffers;
  }

  /** Number of slots of the virtqueue. */
  int size() {
    return queue.size();
  }

  /** Number of buffers that the device was given so far. */
  int offers() {
    return offers;
  }

  /** Number of entries that the device has written, up to a constant. */
  int written() {
    return offers + queue.pending();
  }

  /** Number of entries that can be taken. */
  int pending() {
    return queue.pending();
  }

  /** Takes the oldest entry; returns the slot of its buffer, or {@link Virtqueue#NONE}. */
  int poll() {
    return queue.poll();
  }

  /** Number of bytes of the entry that was taken last. */
  int length() {
    return queue.length();
  }

  /** Gives the device the buffer again of the entry that was taken last, if it has one. */
  void offerAgain(int slot) {
    if (slot != Virtqueue.NONE) {
      queue.submitAgain(slot);
      queue.publish();
      offers++;
    }
  }

  /** Makes the offered buffers visible to the device. */
  void kick() {
    queue.kick();
  }

  /** The slot of an entry that can be taken. */
  int peek(int index) {
    return queue.peek(index);
  }

  /** The memory of all entries. */
  MemorySegment bytes() {
    return slots;
  }

  /** Where the entry of a slot is in {@link #bytes}. */
  static long place(int slot) {
    return (long) slot * SLOT;
  }

  /** Where the entry of a slot is in {@link RingMemory#guardedSegment}. */
  long entry(int slot) {
    return RingMemory.at(base, place(slot));
  }

  /**
   * Whether the entry of a slot may have raised the interrupt for a solicited completion: it does
   * not tell which receives are solicited.
   */
  boolean maySolicit(int slot) {
    long at = place(slot);
    return WorkQueue.isReceive(CompletionEntry.WR_ID.getLong(slots, at))
        || CompletionEntry.STATUS.get(slots, at) != CompletionStatus.SUCCESS;
  }

  /** Frees the memory: the device does not use it. */
  void close() {
    memory.close();
  }
}
