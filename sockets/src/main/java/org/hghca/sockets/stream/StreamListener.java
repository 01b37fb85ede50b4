package org.hghca.sockets.stream;

import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * Takes connections at one address. Peers are connected before {@link #accept} is called, as many
 * as the backlog allows. Thread-safe; only {@link #await} blocks.
 */
public interface StreamListener extends AutoCloseable {
  /**
   * Takes a connection, in the order of arrival.
   *
   * @return null when none waits
   * @throws IOException when the listener is closed, or its device has failed
   */
  ByteStream accept() throws IOException;

  /**
   * Waits until a connection waits, or {@link #wakeup}.
   *
   * @param deadlineNanos of {@link System#nanoTime}; {@link Long#MAX_VALUE} for none
   * @return false at the deadline
   * @throws IOException when the listener is closed, or its device has failed
   */
  boolean await(long deadlineNanos) throws IOException;

  /** Lets the threads in {@link #await} return, now or when they come next. */
  void wakeup();

  /**
   * Names who is told when a connection has arrived. It must not block.
   *
   * @param onChange or null for none
   */
  void watch(Runnable onChange);

  /** With the port that was bound. */
  InetSocketAddress localAddress();

  /** Refuses further peers, and closes the connections that were not accepted. Idempotent. */
  @Override
  void close();
}
