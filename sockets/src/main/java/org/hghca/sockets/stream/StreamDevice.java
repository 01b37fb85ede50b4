package org.hghca.sockets.stream;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

/** What a process can do over one RDMA device. Thread-safe; nothing blocks but {@link #close}. */
public interface StreamDevice extends AutoCloseable {
  /** Where its peers find it: its own addresses, or those of the host. */
  List<InetAddress> addresses();

  /**
   * Begins to connect.
   *
   * @param local one of {@link #addresses}, port 0 for any free one; null for any
   * @throws java.net.BindException "Address already in use", or "Cannot assign requested address"
   * @throws java.net.SocketException when the local end cannot be set up
   */
  PendingConnect connect(InetSocketAddress local, InetSocketAddress remote, StreamOptions options)
      throws IOException;

  /**
   * Listens.
   *
   * @param local one of {@link #addresses}, port 0 for any free one
   * @param backlog connections that wait to be accepted; 0 or less for the usual number
   * @throws java.net.BindException "Address already in use", or "Cannot assign requested address"
   */
  StreamListener listen(InetSocketAddress local, int backlog, StreamOptions options)
      throws IOException;

  StreamCounters counters();

  /**
   * Takes what the device has completed, for all of its streams. Cheap when there is nothing, and
   * when another thread is doing it.
   *
   * @return whether something was found
   */
  boolean progress();

  /** Says that the calling thread is about to call {@link #progress} again and again. */
  void beginPolling();

  /**
   * Says that the calling thread is about to sleep until a watcher is told of a change. Until
   * {@link #endSleep} watchers are told without anybody's progress, or {@code wake} runs.
   *
   * @param wake has the thread call {@link #progress} and come back; it must not block
   */
  void beginSleep(Runnable wake);

  /** Says that the thread of a {@link #beginSleep} sleeps no more. */
  void endSleep(Runnable wake);

  /** Ends all connections and listeners. Idempotent. */
  @Override
  void close();
}
