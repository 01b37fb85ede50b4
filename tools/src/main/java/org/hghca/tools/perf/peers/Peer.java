package org.hghca.tools.perf.peers;

import java.io.IOException;

/** A way to move messages within this process. One thread at a time. */
interface Peer extends AutoCloseable {
  /**
   * What came of a number of messages that were sent without waiting for each.
   *
   * @param messages that arrived
   * @param nanos until the last one had
   * @param allocated bytes that all threads of this process allocated for each message
   */
  record Flow(long messages, long nanos, double allocated) {}

  /**
   * Why it cannot carry messages of a size; empty when it can.
   *
   * @param size bytes of a message
   */
  default String refusal(int size) {
    return "";
  }

  /**
   * Sends messages one way, as many at once as fit.
   *
   * @param size bytes of a message
   * @param count at least 1
   */
  Flow send(int size, int count) throws IOException, InterruptedException;

  /**
   * Sends a message there and one back, again and again.
   *
   * @param size bytes of a message
   * @param count at least 16
   * @return the median of half a round trip, in microseconds
   */
  double pingPong(int size, int count) throws IOException, InterruptedException;

  @Override
  default void close() {
    // Most keep nothing open.
  }
}
