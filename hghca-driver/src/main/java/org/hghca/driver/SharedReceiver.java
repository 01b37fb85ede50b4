package org.hghca.driver;

import org.hghca.abi.QueuePairContext;

/** What a queue pair has of a shared receive queue. */
interface SharedReceiver extends Receives {
  HghcaSharedReceiveQueue queue();

  /** Puts into a context that the queue pair receives from it. */
  void tell(QueuePairContext context);

  /** The queue pair is there. */
  void join();

  /** The queue pair goes; what it holds is taken back when the card has ended with it. */
  void leave();

  /** The state of the queue pair has changed. */
  void stateChanged();

  /**
   * Whether the card may be in the middle of a message whose request only an error makes it give
   * back: such a queue pair goes to RESET by way of ERR.
   */
  boolean isResetByError();

  /**
   * Takes back what the queue pair holds, its unpolled completions dropped. The card has ended with
   * it.
   */
  void takeBack(HghcaCompletionQueue cq);
}
