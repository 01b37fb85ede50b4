package org.hghca.sockets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Set;
import org.hghca.sockets.stream.ByteStream;
import org.hghca.sockets.stream.StreamOptions;

/** A socket channel: how it reads, writes, ends, and what it says of itself. */
final class RdmaSocketChannel extends ConnectingChannel {
  private volatile boolean inputShut;
  private volatile boolean outputShut;
  private Socket socket;

  /** A channel that has no kind yet. */
  RdmaSocketChannel(SelectorProvider provider, SocketContext context) throws IOException {
    super(provider, context, new OptionValues(context.socketOptions()));
  }

  /** A connection, with the options of the listener that has accepted it. */
  RdmaSocketChannel(
      SelectorProvider provider, SocketContext context, OptionValues options, Connected connected) {
    super(provider, context, options, connected);
  }

  /** A channel that stands for one of the platform. */
  RdmaSocketChannel(SelectorProvider provider, SocketContext context, SocketChannel platform)
      throws IOException {
    super(
        provider,
        context,
        new OptionValues(context.socketOptions()),
        new Connected(null, platform));
  }

  @Override
  public int read(ByteBuffer dst) throws IOException {
    return read(dst, Deadlines.NONE);
  }

  int read(ByteBuffer dst, long deadline) throws IOException {
    Objects.requireNonNull(dst);
    readLock.lock();
    try {
      SocketChannel channel = platform;
      if (channel != null) {
        try {
          return channel.read(dst);
        } finally {
          closeWith(channel);
        }
      }
      ByteStream from = connected();
      if (inputShut) {
        return -1;
      }
      if (!dst.hasRemaining()) {
        return 0;
      }
      return isBlocking() ? readFully(from, dst, deadline) : readNow(from, dst);
    } finally {
      readLock.unlock();
    }
  }

  private int readFully(ByteStream from, ByteBuffer dst, long deadline) throws IOException {
    int taken = 0;
    boolean expired = false;
    try {
      begin();
      while (isOpen()) {
        taken = from.read(dst);
        if (taken != 0 || expired) {
          break;
        }
        expired = !from.await(SelectionKey.OP_READ, deadline);
      }
    } finally {
      end(taken > 0);
    }
    if (expired && taken == 0) {
      throw new SocketTimeoutException("Read timed out");
    }
    return taken;
  }

  private int readNow(ByteStream from, ByteBuffer dst) throws IOException {
    try {
      return from.read(dst);
    } catch (IOException e) {
      throw isOpen() ? e : new AsynchronousCloseException();
    }
  }

  @Override
  public long read(ByteBuffer[] dsts, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, dsts.length);
    readLock.lock();
    try {
      SocketChannel channel = platform;
      if (channel != null) {
        try {
          return channel.read(dsts, offset, length);
        } finally {
          closeWith(channel);
        }
      }
      ByteStream from = connected();
      long total = 0;
      for (int i = offset; i < offset + length; i++) {
        while (dsts[i].hasRemaining()) {
          int taken = total == 0 ? read(dsts[i]) : inputShut ? -1 : readNow(from, dsts[i]);
          if (taken <= 0) {
            return total == 0 ? taken : total;
          }
          total += taken;
        }
      }
      return total == 0 && inputShut ? -1 : total;
    } finally {
      readLock.unlock();
    }
  }

  @Override
  public int write(ByteBuffer src) throws IOException {
    Objects.requireNonNull(src);
    writeLock.lock();
    try {
      SocketChannel channel = platform;
      if (channel != null) {
        try {
          return channel.write(src);
        } finally {
          closeWith(channel);
        }
      }
      ByteStream to = connected();
      if (outputShut) {
        throw new ClosedChannelException();
      }
      return isBlocking() ? writeFully(to, src) : writeNow(to, src);
    } finally {
      writeLock.unlock();
    }
  }

  private int writeFully(ByteStream to, ByteBuffer src) throws IOException {
    int begin = src.position();
    try {
      begin();
      while (src.hasRemaining() && isOpen()) {
        if (to.write(src) == 0) {
          to.await(SelectionKey.OP_WRITE, Deadlines.NONE);
        }
      }
    } finally {
      end(src.position() > begin || !src.hasRemaining());
    }
    return src.position() - begin;
  }

  private int writeNow(ByteStream to, ByteBuffer src) throws IOException {
    if (!src.hasRemaining()) {
      return 0;
    }
    try {
      return to.write(src);
    } catch (IOException e) {
      throw isOpen() ? e : new AsynchronousCloseException();
    }
  }

  @Override
  public long write(ByteBuffer[] srcs, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, srcs.length);
    writeLock.lock();
    try {
      SocketChannel channel = platform;
      if (channel != null) {
        try {
          return channel.write(srcs, offset, length);
        } finally {
          closeWith(channel);
        }
      }
      connected();
      long total = 0;
      for (int i = offset; i < offset + length; i++) {
        total += write(srcs[i]);
        if (srcs[i].hasRemaining()) {
          break;
        }
      }
      return total;
    } finally {
      writeLock.unlock();
    }
  }

  private ByteStream connected() throws ClosedChannelException {
    ByteStream now = stream;
    ensureOpen();
    if (now == null) {
      throw new NotYetConnectedException();
    }
    return now;
  }

  @Override
  public SocketChannel shutdownInput() throws IOException {
    synchronized (stateLock) {
      if (platform != null) {
        platform.shutdownInput();
      } else {
        ByteStream now = connected();
        if (!inputShut) {
          inputShut = true;
          now.shutdownInput();
          now.wakeup();
          registrations.changed();
        }
      }
    }
    return this;
  }

  @Override
  public SocketChannel shutdownOutput() throws IOException {
    synchronized (stateLock) {
      if (platform != null) {
        platform.shutdownOutput();
      } else {
        ByteStream now = connected();
        if (!outputShut) {
          outputShut = true;
          now.shutdownOutput();
          now.wakeup();
          registrations.changed();
        }
      }
    }
    return this;
  }

  @Override
  public Socket socket() {
    synchronized (stateLock) {
      if (socket == null) {
        socket = ChannelSocket.of(this);
      }
      return socket;
    }
  }

  boolean isInputShut() {
    SocketChannel channel = platform;
    return channel == null ? inputShut : channel.socket().isInputShutdown();
  }

  boolean isOutputShut() {
    SocketChannel channel = platform;
    return channel == null ? outputShut : channel.socket().isOutputShutdown();
  }

  @Override
  public SocketAddress getLocalAddress() throws IOException {
    ensureOpen();
    SocketChannel channel = platform;
    return channel == null ? streamLocal() : channel.getLocalAddress();
  }

  @Override
  public SocketAddress getRemoteAddress() throws IOException {
    ensureOpen();
    SocketChannel channel = platform;
    return channel == null ? streamRemote() : channel.getRemoteAddress();
  }

  /** The local address over RDMA, as the program named it if it did; null for none. */
  InetSocketAddress streamLocal() {
    synchronized (stateLock) {
      if (stream == null) {
        return local;
      }
      InetSocketAddress own = stream.localAddress();
      return local == null || local.getAddress().isAnyLocalAddress()
          ? own
          : new InetSocketAddress(local.getAddress(), own.getPort());
    }
  }

  /** The peer's address over RDMA, as the program named it if it did; null for none. */
  InetSocketAddress streamRemote() {
    synchronized (stateLock) {
      return stream == null ? null : remote;
    }
  }

  @Override
  public <T> SocketChannel setOption(SocketOption<T> option, T value) throws IOException {
    synchronized (stateLock) {
      ensureOpen();
      if (platform != null) {
        platform.setOption(option, value);
        return this;
      }
      options.set(option, value);
      if (stream != null && option.equals(StandardSocketOptions.SO_KEEPALIVE)) {
        stream.keepAlive(
            options.keepAlive(), options.keepIdle(StreamOptions.DEFAULT.keepIdleSeconds()));
      }
    }
    return this;
  }

  @Override
  public <T> T getOption(SocketOption<T> option) throws IOException {
    ensureOpen();
    SocketChannel channel = platform;
    return channel == null ? options.get(option) : channel.getOption(option);
  }

  @Override
  public Set<SocketOption<?>> supportedOptions() {
    SocketChannel channel = platform;
    return channel == null ? options.supported() : channel.supportedOptions();
  }

  @Override
  public int readyOps() {
    ByteStream now = stream;
    if (now != null) {
      int ops = now.readyOps();
      return (inputShut ? SelectionKey.OP_READ : 0)
          | (outputShut ? SelectionKey.OP_WRITE : 0)
          | ops;
    }
    Attempt pending = attempt;
    return pending != null && pending.done() ? SelectionKey.OP_CONNECT : 0;
  }

  @Override
  public String toString() {
    SocketChannel channel = platform;
    if (channel != null) {
      return channel.toString();
    }
    String state;
    if (!isOpen()) {
      state = "closed";
    } else if (stream != null) {
      state =
          "connected%s%s local=%s remote=%s"
              .formatted(
                  inputShut ? " ishut" : "",
                  outputShut ? " oshut" : "",
                  streamLocal(),
                  streamRemote());
    } else {
      state = attempt == null ? "unconnected" : "connection-pending";
    }
    return SocketChannel.class.getName() + "[" + state + "]";
  }
}
