package org.hghca.tools.perf.peers;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * Two sockets of the loopback interface that are connected with each other.
 *
 * @param <S> what they are
 */
record Ends<S extends Closeable>(S server, S client) implements Closeable {
  /** Opens a socket. */
  interface Opener<S> {
    S open() throws IOException;
  }

  /** Does what is left when both sockets are open. */
  interface Preparation<S extends Closeable> {
    void prepare(Ends<S> ends) throws IOException;
  }

  private static InetSocketAddress anyPort() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  /** A TCP connection. */
  static Ends<SocketChannel> tcp() throws IOException {
    try (ServerSocketChannel listening = ServerSocketChannel.open()) {
      listening.bind(anyPort());
      return open(
          () -> SocketChannel.open(listening.getLocalAddress()),
          listening::accept,
          ends -> {
            ends.client.setOption(StandardSocketOptions.TCP_NODELAY, true);
            ends.server.setOption(StandardSocketOptions.TCP_NODELAY, true);
          });
    }
  }

  /** Two UDP sockets. */
  static Ends<DatagramChannel> udp() throws IOException {
    return open(
        DatagramChannel::open,
        DatagramChannel::open,
        ends -> {
          ends.server.bind(anyPort());
          ends.client.bind(anyPort());
          ends.client.connect(ends.server.getLocalAddress());
          ends.server.connect(ends.client.getLocalAddress());
        });
  }

  /** Opens the client, then the server; what is open is closed when something fails. */
  static <S extends Closeable> Ends<S> open(
      Opener<S> client, Opener<S> server, Preparation<S> preparation) throws IOException {
    List<S> opened = new ArrayList<>();
    try {
      opened.add(client.open());
      opened.add(server.open());
      Ends<S> ends = new Ends<>(opened.getLast(), opened.getFirst());
      preparation.prepare(ends);
      return ends;
    } catch (IOException e) {
      for (S each : opened) {
        each.close();
      }
      throw e;
    }
  }

  @Override
  public void close() throws IOException {
    try (server) {
      client.close();
    }
  }
}
