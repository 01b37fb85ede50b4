package org.hghca.driver.object;

import org.hghca.abi.QueuePairContext;
import org.hghca.driver.ring.Receives;
import org.hghca.provider.srq.SharedReceives;

/**
 * What a queue pair has of a shared receive queue, for its completions, too. {@link DealtReceiver}
 * is that of a queue that the driver deals, {@link HardwareSrq} has that of one of the card.
 */
interface SharedReceiver extends Receives, SharedReceives {
  /** Sets in a context that the queue pair receives from it. */
  void writeTo(QueuePairContext context);

  /**
   * Whether the card may be in the middle of a message whose request it returns only after an
   * error: such a queue pair goes to RESET through ERR.
   */
  boolean isResetByError();
}
