package org.hghca.sockets;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SocketChannel;
import java.util.Set;

/** A socket channel as a {@link Socket}, with time-outs. */
final class ChannelSocket extends Socket {
  private final RdmaSocketChannel channel;
  private volatile int timeout;

  private ChannelSocket(RdmaSocketChannel channel) throws SocketException {
    super((SocketImpl) null); // nothing of the superclass is used
    this.channel = channel;
  }

  static ChannelSocket of(RdmaSocketChannel channel) {
    try {
      return new ChannelSocket(channel);
    } catch (SocketException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void connect(SocketAddress remote) throws IOException {
    connect(remote, 0);
  }

  @Override
  public void connect(SocketAddress remote, int timeout) throws IOException {
    if (remote == null) {
      throw new IllegalArgumentException("connect: The address can't be null");
    }
    if (timeout < 0) {
      throw new IllegalArgumentException("connect: timeout can't be negative");
    }
    if (remote instanceof InetSocketAddress internet && internet.isUnresolved()) {
      close();
      throw new UnknownHostException(internet.getHostString());
    }
    SocketErrors.translated(
        () -> {
          requireBlocking();
          return channel.connect(remote, Deadlines.in(timeout));
        });
  }

  private void requireBlocking() {
    if (!channel.isBlocking()) {
      throw new IllegalBlockingModeException();
    }
  }

  @Override
  public void bind(SocketAddress local) throws IOException {
    SocketErrors.translated(() -> channel.bind(local));
  }

  @Override
  public InetAddress getInetAddress() {
    return getRemoteSocketAddress() instanceof InetSocketAddress remote
        ? remote.getAddress()
        : null;
  }

  @Override
  public InetAddress getLocalAddress() {
    return channel.isOpen() && getLocalSocketAddress() instanceof InetSocketAddress local
        ? local.getAddress()
        : new InetSocketAddress(0).getAddress();
  }

  @Override
  public int getPort() {
    return getRemoteSocketAddress() instanceof InetSocketAddress remote ? remote.getPort() : 0;
  }

  @Override
  public int getLocalPort() {
    return getLocalSocketAddress() instanceof InetSocketAddress local ? local.getPort() : -1;
  }

  @Override
  public SocketAddress getRemoteSocketAddress() {
    SocketChannel platform = channel.platform();
    return platform == null ? channel.streamRemote() : platform.socket().getRemoteSocketAddress();
  }

  @Override
  public SocketAddress getLocalSocketAddress() {
    SocketChannel platform = channel.platform();
    return platform == null ? channel.streamLocal() : platform.socket().getLocalSocketAddress();
  }

  @Override
  public SocketChannel getChannel() {
    return channel;
  }

  @Override
  public InputStream getInputStream() throws IOException {
    requireConnected();
    if (channel.isInputShut()) {
      throw new SocketException("Socket input is shutdown");
    }
    return new SocketInput(channel, () -> timeout);
  }

  @Override
  public OutputStream getOutputStream() throws IOException {
    requireConnected();
    if (channel.isOutputShut()) {
      throw new SocketException("Socket output is shutdown");
    }
    return new SocketOutput(channel);
  }

  private void requireConnected() throws SocketException {
    requireOpen();
    if (!channel.isConnected()) {
      throw new SocketException("Socket is not connected");
    }
  }

  private void requireOpen() throws SocketException {
    if (!channel.isOpen()) {
      throw new SocketException("Socket is closed");
    }
  }

  private <T> void set(SocketOption<T> option, T value) throws SocketException {
    SocketErrors.socketException(() -> channel.setOption(option, value));
  }

  private <T> T get(SocketOption<T> option) throws SocketException {
    return SocketErrors.socketException(() -> channel.getOption(option));
  }

  @Override
  public void setTcpNoDelay(boolean on) throws SocketException {
    set(StandardSocketOptions.TCP_NODELAY, on);
  }

  @Override
  public boolean getTcpNoDelay() throws SocketException {
    return get(StandardSocketOptions.TCP_NODELAY);
  }

  @Override
  public void setSoLinger(boolean on, int linger) throws SocketException {
    set(StandardSocketOptions.SO_LINGER, on ? linger : -1);
  }

  @Override
  public int getSoLinger() throws SocketException {
    return get(StandardSocketOptions.SO_LINGER);
  }

  @Override
  public void sendUrgentData(int data) throws IOException {
    requireConnected();
    SocketChannel platform = channel.platform();
    if (platform == null) {
      throw new SocketException("Urgent data not supported over RDMA");
    }
    platform.socket().sendUrgentData(data);
  }

  @Override
  public void setOOBInline(boolean on) throws SocketException {
    SocketChannel platform = channel.platform();
    if (platform != null) {
      platform.socket().setOOBInline(on);
    }
  }

  @Override
  public boolean getOOBInline() throws SocketException {
    SocketChannel platform = channel.platform();
    return platform != null && platform.socket().getOOBInline();
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

  @Override
  public void setSendBufferSize(int size) throws SocketException {
    set(StandardSocketOptions.SO_SNDBUF, positive(size));
  }

  @Override
  public int getSendBufferSize() throws SocketException {
    return get(StandardSocketOptions.SO_SNDBUF);
  }

  @Override
  public void setReceiveBufferSize(int size) throws SocketException {
    set(StandardSocketOptions.SO_RCVBUF, positive(size));
  }

  private static int positive(int size) {
    if (size <= 0) {
      throw new IllegalArgumentException("size cannot be 0 or negative");
    }
    return size;
  }

  @Override
  public int getReceiveBufferSize() throws SocketException {
    return get(StandardSocketOptions.SO_RCVBUF);
  }

  @Override
  public void setKeepAlive(boolean on) throws SocketException {
    set(StandardSocketOptions.SO_KEEPALIVE, on);
  }

  @Override
  public boolean getKeepAlive() throws SocketException {
    return get(StandardSocketOptions.SO_KEEPALIVE);
  }

  @Override
  public void setTrafficClass(int trafficClass) throws SocketException {
    set(StandardSocketOptions.IP_TOS, trafficClass);
  }

  @Override
  public int getTrafficClass() throws SocketException {
    return get(StandardSocketOptions.IP_TOS);
  }

  @Override
  public void setReuseAddress(boolean on) throws SocketException {
    set(StandardSocketOptions.SO_REUSEADDR, on);
  }

  @Override
  public boolean getReuseAddress() throws SocketException {
    return get(StandardSocketOptions.SO_REUSEADDR);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }

  @Override
  public void shutdownInput() throws IOException {
    SocketErrors.translated(channel::shutdownInput);
  }

  @Override
  public void shutdownOutput() throws IOException {
    SocketErrors.translated(channel::shutdownOutput);
  }

  @Override
  public boolean isConnected() {
    return channel.isConnected();
  }

  @Override
  public boolean isBound() {
    return getLocalSocketAddress() != null;
  }

  @Override
  public boolean isClosed() {
    return !channel.isOpen();
  }

  @Override
  public boolean isInputShutdown() {
    return channel.isInputShut();
  }

  @Override
  public boolean isOutputShutdown() {
    return channel.isOutputShut();
  }

  @Override
  public void setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
    // a hint that has no meaning here
  }

  @Override
  public <T> Socket setOption(SocketOption<T> option, T value) throws IOException {
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
    return isConnected()
        ? "Socket[addr=%s,port=%d,localport=%d]"
            .formatted(getInetAddress(), getPort(), getLocalPort())
        : "Socket[unconnected]";
  }
}
