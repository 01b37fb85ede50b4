package org.hghca.model.virtio;

/**
 * A send or a receive queue: its requests that the card has taken and that are not done. Each is
 * given back when it is done, in the order of the queue. Used in steps of the card.
 */
final class RoceWorkQueue {
  private static final int MASK = RoceLimits.ENTRIES - 1;

  private final SplitQueue queue;
  private final int[] heads = new int[RoceLimits.ENTRIES];
  private final long[] numbers = new long[RoceLimits.ENTRIES];
  private final boolean[] signaled = new boolean[RoceLimits.ENTRIES];
  private int taken;
  private int done;

  RoceWorkQueue(SplitQueue queue) {
    this.queue = queue;
  }

  SplitQueue queue() {
    return queue;
  }

  /**
   * Takes the next request, if one waits.
   *
   * @return whether there was one
   * @throws QueueException when more requests wait than the queue has entries
   */
  boolean take(Chain chain) throws QueueException {
    if (!queue.take(chain)) {
      return false;
    }
    if (taken - done == heads.length) {
      throw new QueueException("a queue of requests holds more than its entries");
    }
    heads[taken++ & MASK] = chain.head();
    return true;
  }

  /**
   * Describes the request that was taken last.
   *
   * @param number the driver's
   * @param visible whether it completes visibly when all is well
   * @return its position
   */
  int describe(long number, boolean visible) {
    int position = taken - 1 & MASK;
    numbers[position] = number;
    signaled[position] = visible;
    return position;
  }

  /** The driver's number of a request. */
  long number(int position) {
    return numbers[position];
  }

  boolean isSignaled(int position) {
    return signaled[position];
  }

  /** Gives the oldest request back. */
  void giveBack() throws QueueException {
    queue.complete(heads[done++ & MASK], 0);
  }

  /**
   * Gives all requests back: those that were taken, and those that wait.
   *
   * @param scratch is overwritten
   */
  void giveAllBack(Chain scratch) throws QueueException {
    do {
      while (taken != done) {
        giveBack();
      }
    } while (take(scratch));
  }
}
