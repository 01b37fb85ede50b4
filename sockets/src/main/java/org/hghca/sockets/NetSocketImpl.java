package org.hghca.sockets;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.SocketOptions;
import java.net.StandardSocketOptions;
import java.nio.channels.spi.SelectorProvider;
import java.util.Set;

/**
 * What is beneath a {@link Socket} or a {@link ServerSocket} of a program that asks for plain ones:
 * a channel of the provider.
 */
final class NetSocketImpl extends SocketImpl {
  private final SelectorProvider provider;
  private final boolean listens;
  private InetSocketAddress local;

  /** One of them, when it is created; the other one is null. */
  private Socket socket;

  private ServerSocket server;

  /**
   * Not created.
   *
   * @param listens whether it is of a server
   */
  NetSocketImpl(SelectorProvider provider, boolean listens) {
    this.provider = provider;
    this.listens = listens;
  }

  /** Gives all sockets of the process that are made from now on a channel of the provider. */
  @SuppressWarnings("deprecation") // there is no other way beneath a Socket
  static void useFor(SelectorProvider provider) throws IOException {
    ServerSocket.setSocketFactory(() -> new NetSocketImpl(provider, true));
    Socket.setSocketImplFactory(() -> new NetSocketImpl(provider, false));
  }

  @Override
  protected void create(boolean stream) throws IOException {
    if (!stream) {
      throw new SocketException("a datagram socket is a DatagramSocket");
    }
    if (listens) {
      server = provider.openServerSocketChannel().socket();
    } else {
      socket = provider.openSocketChannel().socket();
    }
  }

  @Override
  protected void connect(String host, int port) throws IOException {
    connect(new InetSocketAddress(host, port), 0);
  }

  @Override
  protected void connect(InetAddress host, int port) throws IOException {
    connect(new InetSocketAddress(host, port), 0);
  }

  @Override
  protected void connect(SocketAddress remote, int timeout) throws IOException {
    socket.connect(remote, timeout);
    opened();
  }

  private void opened() {
    address = socket.getInetAddress();
    port = socket.getPort();
    localport = socket.getLocalPort();
  }

  @Override
  protected void bind(InetAddress host, int number) throws IOException {
    local = new InetSocketAddress(host, number);
    if (!listens) {
      socket.bind(local);
      localport = socket.getLocalPort();
    }
  }

  @Override
  protected void listen(int backlog) throws IOException {
    server.bind(local, backlog);
    address = server.getInetAddress();
    localport = server.getLocalPort();
  }

  @Override
  protected void accept(SocketImpl into) throws IOException {
    if (!(into instanceof NetSocketImpl accepted)) {
      throw new SocketException("a socket of another kind cannot be accepted");
    }
    accepted.socket = server.accept();
    accepted.opened();
  }

  @Override
  protected InputStream getInputStream() throws IOException {
    return socket.getInputStream();
  }

  @Override
  protected OutputStream getOutputStream() throws IOException {
    return socket.getOutputStream();
  }

  @Override
  protected int available() throws IOException {
    return socket.getInputStream().available();
  }

  @Override
  protected void close() throws IOException {
    if (socket != null) {
      socket.close();
    }
    if (server != null) {
      server.close();
    }
  }

  @Override
  protected void shutdownInput() throws IOException {
    socket.shutdownInput();
  }

  @Override
  protected void shutdownOutput() throws IOException {
    socket.shutdownOutput();
  }

  @Override
  protected void sendUrgentData(int data) throws IOException {
    socket.sendUrgentData(data);
  }

  @Override
  protected Set<SocketOption<?>> supportedOptions() {
    return listens ? server.supportedOptions() : socket.supportedOptions();
  }

  @Override
  protected <T> void setOption(SocketOption<T> option, T value) throws IOException {
    if (listens) {
      server.setOption(option, value);
    } else {
      socket.setOption(option, value);
    }
  }

  @Override
  protected <T> T getOption(SocketOption<T> option) throws IOException {
    return listens ? server.getOption(option) : socket.getOption(option);
  }

  // The options of Socket and ServerSocket, by number.

  @Override
  public void setOption(int id, Object value) throws SocketException {
    switch (id) {
      case SocketOptions.SO_TIMEOUT -> setTimeout((Integer) value);
      case SocketOptions.SO_LINGER ->
          set(StandardSocketOptions.SO_LINGER, value instanceof Integer seconds ? seconds : -1);
      case SocketOptions.SO_OOBINLINE -> socket.setOOBInline((Boolean) value);
      case SocketOptions.SO_SNDBUF, SocketOptions.SO_RCVBUF, SocketOptions.IP_TOS ->
          set(number(id), (Integer) value);
      default -> set(flag(id), (Boolean) value);
    }
  }

  @Override
  public Object getOption(int id) throws SocketException {
    return switch (id) {
      case SocketOptions.SO_TIMEOUT -> listens ? timeoutOfServer() : socket.getSoTimeout();
      case SocketOptions.SO_LINGER -> linger();
      case SocketOptions.SO_OOBINLINE -> socket.getOOBInline();
      case SocketOptions.SO_BINDADDR ->
          listens ? server.getInetAddress() : socket.getLocalAddress();
      case SocketOptions.SO_SNDBUF, SocketOptions.SO_RCVBUF, SocketOptions.IP_TOS ->
          get(number(id));
      default -> get(flag(id));
    };
  }

  private void setTimeout(int millis) throws SocketException {
    if (listens) {
      server.setSoTimeout(millis);
    } else {
      socket.setSoTimeout(millis);
    }
  }

  private int timeoutOfServer() throws SocketException {
    return SocketErrors.socketException(server::getSoTimeout);
  }

  /** As {@link Socket} wants it: false for none. */
  private Object linger() throws SocketException {
    Integer seconds = get(StandardSocketOptions.SO_LINGER);
    if (seconds < 0) {
      return false;
    }
    return seconds;
  }

  private <T> void set(SocketOption<T> option, T value) throws SocketException {
    SocketErrors.socketException(
        () -> {
          setOption(option, value);
          return null;
        });
  }

  private <T> T get(SocketOption<T> option) throws SocketException {
    return SocketErrors.socketException(() -> getOption(option));
  }

  private static SocketOption<Integer> number(int id) {
    return switch (id) {
      case SocketOptions.SO_SNDBUF -> StandardSocketOptions.SO_SNDBUF;
      case SocketOptions.SO_RCVBUF -> StandardSocketOptions.SO_RCVBUF;
      default -> StandardSocketOptions.IP_TOS;
    };
  }

  private static SocketOption<Boolean> flag(int id) throws SocketException {
    return switch (id) {
      case SocketOptions.TCP_NODELAY -> StandardSocketOptions.TCP_NODELAY;
      case SocketOptions.SO_KEEPALIVE -> StandardSocketOptions.SO_KEEPALIVE;
      case SocketOptions.SO_REUSEADDR -> StandardSocketOptions.SO_REUSEADDR;
      case SocketOptions.SO_REUSEPORT -> StandardSocketOptions.SO_REUSEPORT;
      default -> throw new SocketException("Invalid option: " + id);
    };
  }
}
