package org.hghca.sockets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.hghca.sockets.stream.ByteStream;
import org.hghca.sockets.stream.StreamListener;

/** Streams that wait. */
final class MemoryListener implements StreamListener {
  private final InetSocketAddress local;
  private final int backlog;
  private final Runnable onClose;
  private final Deque<ByteStream> waiting = new ArrayDeque<>();
  private Runnable watcher;
  private boolean closed;

  MemoryListener(InetSocketAddress local, int backlog, Runnable onClose) {
    this.local = local;
    this.backlog = backlog <= 0 ? 50 : backlog;
    this.onClose = onClose;
  }

  synchronized boolean offer(ByteStream stream) {
    if (closed || waiting.size() == backlog) {
      return false;
    }
    waiting.add(stream);
    if (watcher != null) {
      watcher.run();
    }
    return true;
  }

  @Override
  public synchronized ByteStream accept() throws IOException {
    if (closed) {
      throw new SocketException("closed");
    }
    return waiting.poll();
  }

  @Override
  public boolean await(long deadline) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void wakeup() {
    // nobody waits
  }

  @Override
  public synchronized void watch(Runnable onChange) {
    watcher = onChange;
  }

  @Override
  public InetSocketAddress localAddress() {
    return local;
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      onClose.run();
      waiting.forEach(ByteStream::close);
    }
  }
}
