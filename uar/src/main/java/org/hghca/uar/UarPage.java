package org.hghca.uar;

import java.util.concurrent.atomic.AtomicBoolean;
import org.hghca.abi.Bar;
import org.hghca.abi.Doorbell;
import org.hghca.vfio.MmioRegion;

/**
 * One UAR page: the doorbells of one context. Thread-safe. Each call is one store, ordered after
 * every earlier store of the calling thread; nothing is read, and nothing flushed.
 *
 * <p>Using a page after its close rings in the page of its next owner.
 */
public final class UarPage implements AutoCloseable {
  private final UarAllocator owner;
  private final MmioRegion region;
  private final int index;
  private final long sendQueue;
  private final long armCompletionQueue;
  private final long armEventQueue;
  private final AtomicBoolean closed = new AtomicBoolean();

  UarPage(UarAllocator owner, MmioRegion region, int index) {
    this.owner = owner;
    this.region = region;
    this.index = index;
    this.sendQueue = Bar.uarPageOffset(index) + Doorbell.SEND_QUEUE;
    this.armCompletionQueue = Bar.uarPageOffset(index) + Doorbell.CQ_ARM;
    this.armEventQueue = Bar.uarPageOffset(index) + Doorbell.EQ_ARM;
  }

  /** The number of the page in the UAR region, from 0; what QPC and CQC call usr_page. */
  public int index() {
    return index;
  }

  /**
   * Tells the card that a send queue has work.
   *
   * <p>It is one 8-byte store: the makers' RTL takes a 4-byte one for a doorbell of queue pair 0,
   * which stops the send side of the whole card.
   *
   * @param doorbell as {@link Doorbell#sendQueue} makes it (table 3-1-7)
   */
  public void ringSendQueue(long doorbell) {
    region.writeLong(sendQueue, doorbell);
  }

  /**
   * Asks for an event at the next completion of a completion queue. An extension of the interface
   * document; the RTL takes the store and does nothing.
   *
   * @param request as {@link Doorbell#armCompletionQueue} makes it
   */
  public void armCompletionQueue(int request) {
    region.writeInt(armCompletionQueue, request);
  }

  /**
   * Asks for an interrupt at the next entry of an event queue, and says how far it was read. An
   * extension of the interface document; the RTL takes the store and does nothing.
   *
   * @param request as {@link Doorbell#armEventQueue} makes it
   */
  public void armEventQueue(int request) {
    region.writeInt(armEventQueue, request);
  }

  /** Gives the page back. Closing twice does nothing. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      owner.free(index);
    }
  }
}
