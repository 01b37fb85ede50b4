package org.hghca.driver;

import java.util.ArrayDeque;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;

/**
 * Receives that were posted to a queue pair in ERR. The card does not see them; they complete with
 * WR_FLUSH_ERR behind those that it has seen. Thread-safe.
 */
final class FlushedReceives {
  private final int qpn;
  private final int depth;
  private final ReceiveRing ring;
  private final ArrayDeque<Long> wrIds = new ArrayDeque<>();
  private long posted;

  FlushedReceives(int qpn, int depth, ReceiveRing ring) {
    this.qpn = qpn;
    this.depth = depth;
    this.ring = ring;
  }

  /** Takes a request; false when as many are outstanding as the queue holds. */
  synchronized boolean post(ReceiveRequest request) {
    if (ring.outstanding() + wrIds.size() >= depth) {
      return false;
    }
    wrIds.addLast(request.wrId());
    posted++;
    return true;
  }

  /**
   * Fills completions, once the card has completed all that it has seen.
   *
   * @param from the first place to fill
   * @param max the place behind the last
   * @return the place behind the last that was filled
   */
  synchronized int complete(Completions out, int from, int max) {
    int count = from;
    while (count < max && !wrIds.isEmpty() && ring.outstanding() == 0) {
      out.set(
          count++,
          wrIds.removeFirst(),
          WcStatus.WR_FLUSH_ERR.code(),
          WcOpcode.RECV.code(),
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
  synchronized long posted() {
    return posted;
  }

  /** Whether one can be completed: the card has completed all that it has seen. */
  synchronized boolean isReady() {
    return !wrIds.isEmpty() && ring.outstanding() == 0;
  }

  synchronized boolean isEmpty() {
    return wrIds.isEmpty();
  }

  synchronized void clear() {
    wrIds.clear();
  }
}
