package org.hghca.programs.perf.run;

import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfException;
import org.hghca.verbs.Completions;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.SendRequest;

/** The send queue of a queue pair of a throughput test. Not thread-safe. */
final class Sender {
  private final QueuePair pair;
  private final int depth;
  private final int list;
  private final int moderation;
  private final long limit;
  private final SendRequest[] quiet;
  private final SendRequest[] signaled;
  private final SendRequest[] together;
  private int place;
  private long posted;
  private long completed;

  /**
   * Of one queue pair.
   *
   * @param limit messages, or {@code Long.MAX_VALUE}
   */
  Sender(Resources resources, int index, long size, long limit) {
    Parameters.Queues queues = resources.parameters().queues();
    this.pair = resources.pairs().get(index);
    this.limit = limit;
    depth = queues.sendDepth();
    list = queues.postList();
    moderation = queues.moderation();
    SendRequests requests = new SendRequests(resources, index, size);
    int places = resources.buffers().places(size);
    quiet = new SendRequest[places];
    signaled = new SendRequest[places];
    for (int i = 0; i < places; i++) {
      quiet[i] = requests.at(i);
      signaled[i] = requests.at(i).signaled();
    }
    together = new SendRequest[list];
    for (int i = 0; i < list; i++) {
      SendRequest[] kind = (i + 1) % moderation == 0 ? signaled : quiet;
      together[i] = kind[i % places];
    }
  }

  /** Whether the next request, or list of requests, may be posted. */
  boolean canPost() {
    return posted < limit && posted + list <= completed + depth;
  }

  /**
   * Posts the next request, or list of requests.
   *
   * @return how many
   */
  int post() {
    if (list > 1) {
      int taken = pair.tryPostSend(together, 0, list);
      if (taken != list) {
        throw new PerfException("the send queue took %d of %d requests".formatted(taken, list));
      }
    } else {
      pair.postSend(isSignaled(posted + 1) ? signaled[place] : quiet[place]);
      place = place + 1 == quiet.length ? 0 : place + 1;
    }
    posted += list;
    return list;
  }

  /** Whether a completion tells of the last message that was posted. */
  boolean endsSignaled() {
    return isSignaled(posted);
  }

  /** Whether a message has a completion of its own, by how many there are with it. */
  private boolean isSignaled(long messages) {
    return messages % moderation == 0 || messages == limit;
  }

  /**
   * Takes a completion.
   *
   * @return how many messages it completes
   */
  int complete() {
    long before = completed;
    completed = Math.min(completed + moderation, Math.min(posted, limit));
    return (int) (completed - before);
  }

  /**
   * Checks a completion.
   *
   * @throws PerfException when it reports an error
   */
  static void check(Completions completions, int index, String what, long done) {
    if (!completions.isSuccess(index)) {
      throw new PerfException(
          "completion of %s after %d messages: %s"
              .formatted(what, done, completions.describe(index)));
    }
  }
}
