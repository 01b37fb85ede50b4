package org.hghca.programs.perf.run;

import org.hghca.verbs.QueuePair;
import org.hghca.verbs.ReceiveRequest;

/** The receive queue of a queue pair. Not thread-safe. */
final class Receiver {
  private final QueuePair pair;
  private final ReceiveRequest[] requests;
  private final long limit;
  private int place;
  private long posted;

  /**
   * Of one queue pair; posts as many receives as there is room for.
   *
   * @param limit messages, or {@code Long.MAX_VALUE}
   */
  Receiver(Resources resources, int index, long size, long limit) {
    this.pair = resources.pairs().get(index);
    this.limit = limit;
    Buffers buffers = resources.buffers();
    requests = new ReceiveRequest[buffers.receivePlaces(size)];
    for (int i = 0; i < requests.length; i++) {
      long offset = buffers.receiveOffset(index) + i * buffers.receiveStride(size);
      requests[i] =
          new ReceiveRequest(1)
              .wrId(index)
              .into(resources.memory(), offset, size + buffers.header());
    }
    int depth = resources.parameters().queues().receiveDepth();
    while (posted < limit && posted < depth) {
      post();
    }
  }

  private void post() {
    pair.postReceive(requests[place]);
    place = place + 1 == requests.length ? 0 : place + 1;
    posted++;
  }

  /** Posts another receive for one that was taken, if another message is to come. */
  void taken() {
    if (posted < limit) {
      post();
    }
  }
}
