package org.hghca.sockets.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * A reliable ordered stream of bytes to one peer. One thread reads and one writes at a time; all
 * else may be called by any thread. Only {@link #await} blocks.
 */
public interface ByteStream extends AutoCloseable {
  /**
   * Takes bytes that have arrived.
   *
   * @param dst with room for at least one byte
   * @return how many, or 0 when there are none now, or -1 at the end of the stream
   * @throws java.net.SocketException "Connection reset" when the connection broke and nothing that
   *     arrived before is left
   */
  int read(ByteBuffer dst) throws IOException;

  /**
   * Accepts bytes: they are copied, and their delivery is under way.
   *
   * @return how many, or 0 when there is no room now
   * @throws IOException "Broken pipe" or "Connection reset" when the peer will take no more
   */
  int write(ByteBuffer src) throws IOException;

  /**
   * What would not return 0 now: {@link java.nio.channels.SelectionKey#OP_READ} and OP_WRITE. The
   * end of the stream and a failure are ready for both. Makes no progress by itself.
   */
  int readyOps();

  /**
   * Takes what the device has completed, for all streams of the engine that this one belongs to.
   * Cheap when there is nothing, and when another thread is doing it.
   *
   * @return whether something was found
   */
  boolean progress();

  /**
   * Waits until one of the operations is ready, or {@link #wakeup}. Spins shortly, then sleeps.
   *
   * @param ops a set of OP_READ and OP_WRITE
   * @param deadlineNanos of {@link System#nanoTime}; {@link Long#MAX_VALUE} for none
   * @return false at the deadline
   * @throws IOException when the device can no longer report
   */
  boolean await(int ops, long deadlineNanos) throws IOException;

  /** Lets the threads in {@link #await} return, now or when they come next. */
  void wakeup();

  /**
   * Names who is told when {@link #readyOps} may have changed. It runs on whichever thread makes
   * progress and must not block.
   *
   * @param onChange or null for none
   */
  void watch(Runnable onChange);

  /** Reads nothing more: {@link #read} returns -1. */
  void shutdownInput();

  /** Ends the peer's input after what was written. */
  void shutdownOutput() throws IOException;

  /** Ends both directions after what was written, and frees what the stream has. Idempotent. */
  @Override
  void close();

  /** Ends the connection at once: what is under way may be lost, and the peer's reads fail. */
  void reset();

  /** Whether an idle connection is tested, and after how many seconds: SO_KEEPALIVE. */
  void keepAlive(boolean on, int idleSeconds);

  InetSocketAddress localAddress();

  InetSocketAddress remoteAddress();
}
