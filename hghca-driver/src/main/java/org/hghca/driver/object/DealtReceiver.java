package org.hghca.driver.object;

import java.util.function.Consumer;
import org.hghca.abi.QueuePairContext;
import org.hghca.driver.ring.ReceiveRing;
import org.hghca.provider.srq.Due;
import org.hghca.provider.srq.ReceiveShare;
import org.hghca.provider.srq.SharedQueue;

/**
 * The part of a queue pair in a shared receive queue whose requests the driver deals to its ring.
 * The card is not aware of sharing.
 */
final class DealtReceiver implements SharedReceiver {
  private final ReceiveRing ring;
  private final ReceiveShare share;

  DealtReceiver(ReceiveRing ring, ReceiveShare share) {
    this.ring = ring;
    this.share = share;
  }

  @Override
  public SharedQueue queue() {
    return share.queue();
  }

  @Override
  public void writeTo(QueuePairContext context) {}

  @Override
  public void join() {
    share.join();
  }

  @Override
  public void leave() {
    share.leave();
  }

  @Override
  public void stateChanged() {
    share.stateChanged();
  }

  @Override
  public boolean isResetByError() {
    return false;
  }

  @Override
  public void reclaim(Consumer<Runnable> drop) {
    share.reclaim(drop);
  }

  @Override
  public boolean expects(int wqe) {
    return ring.expects(wqe);
  }

  @Override
  public long take(int wqe, int bytes) {
    return ring.take(wqe, bytes);
  }

  @Override
  public long receivedBytes() {
    return ring.receivedBytes();
  }

  /** In ring order: the card has passed that slot. */
  @Override
  public void note(int wqe) {
    share.note(ring.behind(wqe));
  }

  @Override
  public boolean keepsFlushed() {
    return true;
  }

  @Override
  public void keep(int wqe) {
    share.flush(ring.tail());
    long _ = ring.takeOldest();
  }

  @Override
  public Due due(Due due) {
    return share.due(due);
  }
}
