package org.hghca.driver.object;

import org.hghca.driver.card.Limits;
import org.hghca.driver.ring.QueueGeometry;
import org.hghca.driver.ring.ReceiveRing;
import org.hghca.provider.queue.SpinLock;
import org.hghca.provider.srq.SharedQueue;
import org.hghca.provider.srq.SharingQueuePair;
import org.hghca.provider.srq.SoftwareSrq;
import org.hghca.verbs.QueuePairCapabilities;

/**
 * A shared receive queue for its queue pairs: the card implements it, if it announces that;
 * otherwise the driver deals its requests to the receive rings. One of the two is selected at
 * creation.
 */
interface ReceiveSharing {
  /** The capabilities that the rings of a queue pair must have. */
  QueuePairCapabilities rings(QueuePairCapabilities c);

  /** The receive lock of a new queue pair. */
  SpinLock receiveLock();

  /**
   * The part of a queue pair.
   *
   * @param ring the queue pair's own ring, with the required capabilities
   */
  SharedReceiver receiver(SharingQueuePair qp, ReceiveRing ring);

  /** That of a queue of this driver. */
  static ReceiveSharing of(SharedQueue queue, Limits limits) {
    return queue instanceof ReceiveSharing card ? card : new Dealing((SoftwareSrq) queue, limits);
  }

  /** The driver deals the requests. */
  record Dealing(SoftwareSrq queue, Limits limits) implements ReceiveSharing {
    @Override
    public QueuePairCapabilities rings(QueuePairCapabilities c) {
      int depth = QueueGeometry.shareDepth(limits, queue.capacity(), queue.maxSge());
      return new QueuePairCapabilities(
          c.sendDepth(), depth, c.maxSendSge(), queue.maxSge(), c.maxInline());
    }

    @Override
    public SpinLock receiveLock() {
      return queue.receiveLock();
    }

    @Override
    public SharedReceiver receiver(SharingQueuePair qp, ReceiveRing ring) {
      return new DealtReceiver(ring, queue.share(qp, ring));
    }
  }
}
