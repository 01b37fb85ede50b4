package org.hghca.sockets;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;

/** A server channel as a {@link ServerSocket}, with a time-out. */
final class ChannelServerSocket extends ServerSocket {
  private static final int USUAL_BACKLOG = 50;

  private final RdmaServerSocketChannel channel;
  private volatile int timeout;

  private ChannelServerSocket(RdmaServerSocketChannel channel) throws IOException {
    this.channel = channel; // the superclass opens nothing until it is bound, which it never is
  }

  static ChannelServerSocket of(RdmaServerSocketChannel channel) {
    try {
      return new ChannelServerSocket(channel);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void bind(SocketAddress local) throws IOException {
    bind(local, USUAL_BACKLOG);
  }

  @Override
  public void bind(SocketAddress local, int backlog) throws IOException {
    SocketErrors.translated(() -> channel.bind(local, backlog));
  }

  private InetSocketAddress bound() {
    try {
      return (InetSocketAddress) channel.boundAddress();
    } catch (IOException _) {
      return null; // closed
    }
  }

  @Override
  public InetAddress getInetAddress() {
    InetSocketAddress local = bound();
    return local == null ? null : local.getAddress();
  }

  @Override
  public int getLocalPort() {
    InetSocketAddress local = bound();
    return local == null ? -1 : local.getPort();
  }

  @Override
  public SocketAddress getLocalSocketAddress() {
    return bound();
  }

  @Override
  public Socket accept() throws IOException {
    SocketChannel accepted =
        SocketErrors.translated(() -> channel.accept(Deadlines.in(timeout), channel.isBlocking()));
    if (accepted == null) {
      throw new IllegalBlockingModeException();
    }
    return accepted.socket();
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }

  @Override
  public ServerSocketChannel getChannel() {
    return channel;
  }

  @Override
  public boolean isBound() {
    return bound() != null;
  }

  @Override
  public boolean isClosed() {
    return !channel.isOpen();
  }

  @Override
  public void setSoTimeout(int millis) throws SocketException {
    requireOpen();
    if (millis < 0) {
      throw new IllegalArgumentException("timeout < 0");
    }
    timeout = millis;
  }

  @Override
  public int getSoTimeout() throws SocketException {
    requireOpen();
    return timeout;
  }

  private void requireOpen() throws SocketException {
    if (!channel.isOpen()) {
      throw new SocketException("Socket is closed");
    }
  }

  @Override
  public void setReuseAddress(boolean on) throws SocketException {
    SocketErrors.socketException(() -> channel.setOption(StandardSocketOptions.SO_REUSEADDR, on));
  }

  @Override
  public boolean getReuseAddress() throws SocketException {
    return SocketErrors.socketException(
        () -> channel.getOption(StandardSocketOptions.SO_REUSEADDR));
  }

  @Override
  public void setReceiveBufferSize(int size) throws SocketException {
    if (size <= 0) {
      throw new IllegalArgumentException("size cannot be 0 or negative");
    }
    SocketErrors.socketException(() -> channel.setOption(StandardSocketOptions.SO_RCVBUF, size));
  }

  @Override
  public int getReceiveBufferSize() throws SocketException {
    return SocketErrors.socketException(() -> channel.getOption(StandardSocketOptions.SO_RCVBUF));
  }

  @Override
  public void setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
    // a hint that has no meaning here
  }

  @Override
  public <T> ServerSocket setOption(SocketOption<T> option, T value) throws IOException {
    channel.setOption(option, value);
    return this;
  }

  @Override
  public <T> T getOption(SocketOption<T> option) throws IOException {
    return channel.getOption(option);
  }

  @Override
  public Set<SocketOption<?>> supportedOptions() {
    return channel.supportedOptions();
  }

  @Override
  public String toString() {
    return isBound()
        ? "ServerSocket[addr=%s,localport=%d]".formatted(getInetAddress(), getLocalPort())
        : "ServerSocket[unbound]";
  }
}
