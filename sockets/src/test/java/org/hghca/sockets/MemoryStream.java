package org.hghca.sockets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.hghca.sockets.stream.ByteStream;

/** One end of a stream in memory; each direction holds {@link #ROOM} bytes. */
final class MemoryStream implements ByteStream {
  static final int ROOM = 1000;

  /** Of both ends. */
  private final ReentrantLock lock;

  private final Condition changed;
  private final MemoryDevice device;
  private final InetSocketAddress local;
  private final InetSocketAddress remote;
  private final ByteBuffer arrived = ByteBuffer.allocate(ROOM);
  private MemoryStream peer;
  private boolean ended;
  private boolean broken;
  private boolean inputShut;
  private boolean outputShut;
  private boolean closed;
  private int wakeups;
  private Runnable watcher;
  boolean keepAlive;

  private MemoryStream(
      ReentrantLock lock, MemoryDevice device, InetSocketAddress local, InetSocketAddress remote) {
    this.lock = lock;
    this.changed = lock.newCondition();
    this.device = device;
    this.local = local;
    this.remote = remote;
  }

  static MemoryStream[] pair(
      MemoryDevice one, InetSocketAddress here, MemoryDevice other, InetSocketAddress there) {
    ReentrantLock lock = new ReentrantLock();
    MemoryStream left = new MemoryStream(lock, one, here, there);
    MemoryStream right = new MemoryStream(lock, other, there, here);
    left.peer = right;
    right.peer = left;
    one.open.incrementAndGet();
    other.open.incrementAndGet();
    return new MemoryStream[] {left, right};
  }

  @Override
  public int read(ByteBuffer dst) throws IOException {
    lock.lock();
    try {
      if (inputShut || closed) {
        return -1;
      }
      int count = Math.min(dst.remaining(), arrived.position());
      if (count == 0) {
        if (broken) {
          throw new SocketException("Connection reset");
        }
        return ended ? -1 : 0;
      }
      arrived.flip();
      int limit = arrived.limit();
      arrived.limit(count);
      dst.put(arrived);
      arrived.limit(limit);
      arrived.compact();
      peer.tell();
      return count;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public int write(ByteBuffer src) throws IOException {
    lock.lock();
    try {
      if (closed || outputShut || broken || peer.closed) {
        throw new SocketException("Broken pipe");
      }
      int count = Math.min(src.remaining(), peer.arrived.remaining());
      peer.arrived.put(src.slice(src.position(), count));
      src.position(src.position() + count);
      device.bytesSent.addAndGet(count);
      if (count > 0) {
        peer.tell();
      }
      return count;
    } finally {
      lock.unlock();
    }
  }

  private void tell() {
    changed.signalAll();
    if (watcher != null) {
      watcher.run();
    }
  }

  @Override
  public int readyOps() {
    lock.lock();
    try {
      boolean over = closed || broken;
      boolean reads = over || ended || inputShut || arrived.position() > 0;
      boolean writes = over || outputShut || peer.closed || peer.arrived.hasRemaining();
      return (reads ? SelectionKey.OP_READ : 0) | (writes ? SelectionKey.OP_WRITE : 0);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean progress() {
    return false;
  }

  @Override
  public boolean await(int ops, long deadline) {
    lock.lock();
    try {
      int before = wakeups;
      while ((readyOps() & ops) == 0 && wakeups == before && !closed) {
        long left = deadline == Long.MAX_VALUE ? deadline : deadline - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        try {
          changed.await(left, TimeUnit.NANOSECONDS);
        } catch (InterruptedException _) {
          Thread.currentThread().interrupt();
          return true;
        }
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void wakeup() {
    lock.lock();
    try {
      wakeups++;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void watch(Runnable onChange) {
    lock.lock();
    try {
      watcher = onChange;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void shutdownInput() {
    lock.lock();
    try {
      inputShut = true;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void shutdownOutput() {
    lock.lock();
    try {
      outputShut = true;
      peer.ended = true;
      peer.tell();
    } finally {
      lock.unlock();
    }
  }

  /** The connection breaks, for the peer. */
  void breakPeer() {
    lock.lock();
    try {
      peer.broken = true;
      peer.tell();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (!closed) {
        closed = true;
        device.open.decrementAndGet();
        peer.ended = true;
        peer.tell();
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void reset() {
    breakPeer();
    close();
  }

  @Override
  public void keepAlive(boolean on, int idleSeconds) {
    keepAlive = on;
  }

  @Override
  public InetSocketAddress localAddress() {
    return local;
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return remote;
  }
}
