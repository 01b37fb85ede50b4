package org.hghca.provider;

import java.util.ArrayDeque;
import java.util.function.IntSupplier;
import org.hghca.verbs.Completions;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.spi.ProviderAccess;

/**
 * Requests of one direction that were posted to a queue pair in ERR. The card does not see them;
 * they complete with WR_FLUSH_ERR behind those that are in the ring. Thread-safe.
 */
public final class FlushedRequests {
  private record Request(long wrId, int opcode) {}

  private final int qpn;
  private final int depth;
  private final IntSupplier inRing;
  private final ArrayDeque<Request> requests = new ArrayDeque<>();
  private long posted;

  /**
   * None so far.
   *
   * @param depth how many the queue pair may have outstanding
   * @param inRing how many of them are in the ring
   */
  public FlushedRequests(int qpn, int depth, IntSupplier inRing) {
    this.qpn = qpn;
    this.depth = depth;
    this.inRing = inRing;
  }

  /** Takes a request; false when as many are outstanding as the queue holds. */
  public synchronized boolean post(long wrId, WcOpcode opcode) {
    if (inRing.getAsInt() + requests.size() >= depth) {
      return false;
    }
    requests.addLast(new Request(wrId, opcode.code()));
    posted++;
    return true;
  }

  /**
   * Fills completions, once all that is in the ring is complete.
   *
   * @param from the first place to fill
   * @param max the place behind the last
   * @return the place behind the last that was filled
   */
  public synchronized int complete(Completions out, int from, int max) {
    int count = from;
    while (count < max && isReady()) {
      Request request = requests.removeFirst();
      ProviderAccess.get()
          .fill(
              out,
              count++,
              request.wrId(),
              WcStatus.WR_FLUSH_ERR.code(),
              request.opcode(),
              0,
              0,
              0,
              qpn,
              0,
              0);
    }
    return count;
  }

  /** How many requests were posted so far. */
  public synchronized long posted() {
    return posted;
  }

  /** Whether one can be completed: all that is in the ring is complete. */
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
