package org.hghca.uar;

import java.util.concurrent.atomic.AtomicBoolean;
import org.hghca.abi.Bar;
import org.hghca.abi.Doorbell;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.trace.DeviceTrace;

/**
 * One UAR page: the doorbells of one context. Thread-safe. Each call is one store, ordered after
 * every earlier store of the calling thread; nothing is read or flushed.
 *
 * <p>A doorbell after the close goes to the page of its next owner.
 */
public final class UarPage implements AutoCloseable {
  private final UarAllocator owner;
  private final MmioRegion region;
  private final int index;
  private final long sendQueue;
  private final long armCompletionQueue;
  private final long armEventQueue;
  private final AtomicBoolean closed = new AtomicBoolean();

  /** Null if the card is not traced. */
  private final DeviceTrace trace;

  UarPage(UarAllocator owner, MmioRegion region, DeviceTrace trace, int index) {
    this.owner = owner;
    this.region = region;
    this.trace = trace;
    this.index = index;
    this.sendQueue = Bar.uarPageOffset(index) + Doorbell.SEND_QUEUE;
    this.armCompletionQueue = Bar.uarPageOffset(index) + Doorbell.CQ_ARM;
    this.armEventQueue = Bar.uarPageOffset(index) + Doorbell.EQ_ARM;
  }

  /** The number of the page in the UAR region, from 0; usr_page in QPC and CQC. */
  public int index() {
    return index;
  }

  /**
   * Tells the card that a send queue has work.
   *
   * <p>It is one 8-byte store (table 3-1-6): a 4-byte store is not half a doorbell, but another.
   *
   * @param doorbell as {@link Doorbell#sendQueue} makes it (table 3-1-7)
   */
  public void ringSendQueue(long doorbell) {
    if (trace != null) {
      DoorbellRecord.record(trace, sendQueue, doorbell);
    }
    region.writeLong(sendQueue, doorbell);
  }

  /**
   * The doorbell of send queues, for a ring that keeps it.
   *
   * @return 0 if each doorbell must go through {@link #ringSendQueue}, as on a traced card
   */
  public long sendQueueAddress() {
    return trace == null ? region.address(sendQueue) : 0;
  }

  /** Whether the card may receive a doorbell after its call has returned. */
  public boolean isPosted() {
    return region.isPosted();
  }

  /**
   * Arms a completion queue: requests an event at its next completion. EXTENSION, see {@link
   * Doorbell#CQ_ARM}: a card that does not have it ignores the store.
   *
   * @param request as {@link Doorbell#armCompletionQueue} makes it
   */
  public void armCompletionQueue(int request) {
    if (trace != null) {
      DoorbellRecord.record(trace, armCompletionQueue, request);
    }
    region.writeInt(armCompletionQueue, request);
  }

  /**
   * Arms an event queue: requests an interrupt at its next entry, and reports its consumer index.
   * EXTENSION, see {@link Doorbell#EQ_ARM}: a card that does not have it ignores the store.
   *
   * @param request as {@link Doorbell#armEventQueue} makes it
   */
  public void armEventQueue(int request) {
    if (trace != null) {
      DoorbellRecord.record(trace, armEventQueue, request);
    }
    region.writeInt(armEventQueue, request);
  }

  /** Frees the page. Closing twice does nothing. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      owner.free(index);
    }
  }
}
