package org.hghca.provider.queue;

import java.util.ArrayDeque;
import java.util.function.IntSupplier;
import org.hghca.verbs.Completions;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.spi.ProviderAccess;

/**
 * Requests of one direction that were posted to a queue pair in ERR. The card does not see them;
 * they complete with WR_FLUSH_ERR after those in the ring. Thread-safe.
 */
public final class FlushedRequests {
  private record Request(long wrId, int opcode) {}

  private final int qpn;
  private final int depth;
  private final IntSupplier inRing;
  private final ArrayDeque<Request> requests = new ArrayDeque<>();
  private long posted;

  /**
   * Empty.
   *
   * @param depth maximum number of outstanding requests of the queue pair
   * @param inRing number of them in the ring
   */
  public FlushedRequests(int qpn, int depth, IntSupplier inRing) {
    this.qpn = qpn;
    this.depth = depth;
    this.inRing = inRing;
  }

  /** Takes a request; false if the queue is full. */
  public synchronized boolean post(long wrId, WcOpcode opcode) {
    if (inRing.getAsInt() + requests.size() >= depth) {
      return false;
    }
    requests.addLast(new Request(wrId, opcode.code()));
    posted++;
    return true;
  }

  /**
   * Fills completions, once all requests in the ring are complete.
   *
   * @param from the first index to fill
   * @param max the index after the last
   * @return the index after the last filled one
   */
  public synchronized int complete(Completions out, int from, int max) {
    int count = from;
    while (count < max && isReady()) {
      Request request = requests.removeFirst();
      ProviderAccess.get()
          .fill(
              out, count++, request.wrId(), WcStatus.WR_FLUSH_ERR.code(), request.opcode(), 0, qpn);
    }
    return count;
  }

  /** Number of requests posted so far. */
  public synchronized long posted() {
    return posted;
  }

  /** Whether one can be completed: all requests in the ring are complete. */
  public synchronized boolean isReady() {
    return !requests.isEmpty() && inRing.getAsInt() == 0;
  }

  public synchronized boolean isEmpty() {
    return requests.isEmpty();
  }

  public synchronized void clear() {
    requests.clear();
  }
}
