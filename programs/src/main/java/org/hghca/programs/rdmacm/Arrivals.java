package org.hghca.programs.rdmacm;

import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;

/** A completion queue whose completions one thread takes one by one, sleeping between them. */
final class Arrivals implements AutoCloseable {
  private final CompletionChannel channel;
  private final CompletionQueue queue;
  private final Completions one = new Completions(1);

  /**
   * Makes the queue, with a ring of no more than that.
   *
   * @param entries of all queues that report to it
   */
  Arrivals(Context context, int entries) {
    channel = context.createCompletionChannel();
    try {
      queue =
          context.createCompletionQueue(
              CompletionQueueConfig.of(entries)
                  .withRingEntries(Integer.highestOneBit(2 * entries - 1))
                  .withChannel(channel));
    } catch (RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  CompletionQueue queue() {
    return queue;
  }

  /**
   * Waits for the next completion.
   *
   * @return it, at index 0, until the next call
   */
  Completions take() throws InterruptedException {
    while (queue.poll(one) == 0) {
      queue.requestNotify(false);
      if (queue.poll(one) != 0) {
        break;
      }
      channel.await();
    }
    return one;
  }

  @Override
  public void close() {
    queue.close();
    channel.close();
  }
}
