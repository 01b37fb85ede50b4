package org.hghca.sockets.stream;

import java.io.IOException;

/** A connect that is under way. Thread-safe; only {@link #await} blocks. */
public interface PendingConnect {
  /** Whether {@link #finish} has an answer. */
  boolean done();

  /**
   * The stream, once.
   *
   * @throws java.net.ConnectException "Connection refused", "Connection timed out"
   * @throws java.net.NoRouteToHostException when no path leads to the peer
   * @throws java.net.SocketException when the local end cannot be set up
   */
  ByteStream finish() throws IOException;

  /**
   * Waits until {@link #done}, or until it is cancelled.
   *
   * @param deadlineNanos of {@link System#nanoTime}; {@link Long#MAX_VALUE} for none
   * @return false at the deadline
   */
  boolean await(long deadlineNanos);

  /**
   * Names who is told when it is done; it runs at once if it is. It must not block.
   *
   * @param onChange or null for none
   */
  void watch(Runnable onChange);

  /** Gives up, and closes a stream that was not taken; {@link #finish} then throws. Idempotent. */
  void cancel();
}
