package org.hghca.jgroups;

import java.time.Duration;

/**
 * The attributes of {@link RDMA} that connections use.
 *
 * @param bufferSize bytes of a receive, header included
 * @param buffers receives of a connection
 * @param sendBytes registered memory in which bundles wait until they are sent
 * @param maxLength bytes of a bundle, at most
 * @param connectTimeout for a connection to be made
 * @param sendTimeout how long a sender waits for a slow peer
 */
record Settings(
    int bufferSize,
    int buffers,
    int sendBytes,
    int maxLength,
    Duration connectTimeout,
    Duration sendTimeout) {

  /** Receives beyond the peer's credits, for its frames that carry credits alone. */
  static final int FOR_CREDITS = 2;

  /** So that a frame fits beside a quarter that is not signaled, and the break at the end. */
  private static final int LEAST_IN_RING = 4;

  private static final int LEAST_BUFFERS = 4;

  int receiveDepth() {
    return buffers + FOR_CREDITS;
  }

  /** Frames of a connection that are not known to have been sent. */
  int sendDepth() {
    return 2 * buffers;
  }

  void check() {
    require(
        bufferSize >= Greeting.LEAST_BUFFER,
        "buffer_size",
        bufferSize,
        "at least " + Greeting.LEAST_BUFFER);
    require(
        buffers >= LEAST_BUFFERS && buffers <= Greeting.MOST_BUFFERS,
        "buffers",
        buffers,
        LEAST_BUFFERS + " to " + Greeting.MOST_BUFFERS);
    require(
        sendBytes >= LEAST_IN_RING * bufferSize,
        "send_buf_size",
        sendBytes,
        "at least 4 times buffer_size, " + LEAST_IN_RING * bufferSize);
    require(maxLength > 0, "max_length", maxLength, "above 0");
  }

  private static void require(boolean holds, String attribute, int value, String range) {
    if (!holds) {
      throw new IllegalArgumentException(
          "RDMA.%s=%d must be %s".formatted(attribute, value, range));
    }
  }
}
