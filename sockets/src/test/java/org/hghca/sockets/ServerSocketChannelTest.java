package org.hghca.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.hghca.sockets.MemoryDevice.Network;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class ServerSocketChannelTest {
  private final Network network = new Network();
  private final MemoryDevice one = network.device("10.0.0.1");
  private final MemoryDevice two = network.device("10.1.0.1");

  @Test
  void listensOnAllDevicesAtTheWildcardAddress() throws IOException {
    RdmaSelectorProvider provider = Sockets.provider(Sockets.policy(List.of(one, two)));
    try (ServerSocketChannel server = provider.openServerSocketChannel().bind(null)) {
      int port = ((InetSocketAddress) server.getLocalAddress()).getPort();
      for (String address : List.of("10.0.0.1", "10.1.0.1")) {
        try (SocketChannel client = provider.openSocketChannel()) {
          client.connect(new InetSocketAddress(address, port));
          try (SocketChannel accepted = server.accept()) {
            accepted.write(Sockets.bytes(address));
            assertThat(Sockets.text(client, address.length())).isEqualTo(address);
          }
        }
      }
      assertThat(one.counters().accepted()).isEqualTo(1);
      assertThat(two.counters().accepted()).isEqualTo(1);
    }
  }

  @Test
  void connectionsComeInTheOrderOfTheirArrivalUpToTheBacklog() throws IOException {
    RdmaSelectorProvider provider = Sockets.provider(one);
    try (ServerSocketChannel server = provider.openServerSocketChannel();
        SocketChannel first = provider.openSocketChannel();
        SocketChannel second = provider.openSocketChannel();
        SocketChannel third = provider.openSocketChannel()) {
      server.bind(new InetSocketAddress("10.0.0.1", 0), 2);
      first.connect(server.getLocalAddress());
      second.connect(server.getLocalAddress());
      assertThatThrownBy(() -> third.connect(server.getLocalAddress()))
          .isInstanceOf(ConnectException.class);

      for (SocketChannel expected : List.of(first, second)) {
        try (SocketChannel accepted = server.accept()) {
          assertThat(accepted.getRemoteAddress()).isEqualTo(expected.getLocalAddress());
          assertThat(accepted.getLocalAddress()).isEqualTo(server.getLocalAddress());
        }
      }
    }
  }

  @Test
  void closeEndsAnAcceptAndTheConnectionsThatWait() throws Exception {
    RdmaSelectorProvider provider = Sockets.provider(one);
    ServerSocketChannel server = provider.openServerSocketChannel();
    assertThatThrownBy(server::accept).isInstanceOf(NotYetBoundException.class);
    server.bind(new InetSocketAddress("10.0.0.1", 0));
    assertThatThrownBy(() -> server.bind(null)).isInstanceOf(AlreadyBoundException.class);
    FutureTask<SocketChannel> accepting = new FutureTask<>(server::accept);
    Thread thread = new Thread(accepting);
    thread.start();
    while (thread.getState() != Thread.State.WAITING) {
      assertThat(thread.isAlive()).as("the thread waits").isTrue();
    }

    server.close();

    assertThatThrownBy(accepting::get).rootCause().isInstanceOf(AsynchronousCloseException.class);
    ServerSocketChannel other =
        provider.openServerSocketChannel().bind(new InetSocketAddress("10.0.0.1", 0));
    try (SocketChannel client = provider.openSocketChannel()) {
      client.connect(other.getLocalAddress());
      other.close();
      assertThat(client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
    }
    assertThat(one.open).hasValue(0);
  }

  @Test
  void socketFilesAreThePlatforms(@TempDir Path folder) throws IOException {
    RdmaSelectorProvider provider = Sockets.provider(one);
    try (ServerSocketChannel server =
            provider.openServerSocketChannel(StandardProtocolFamily.UNIX);
        SocketChannel client = provider.openSocketChannel(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(folder.resolve("s")));
      client.connect(server.getLocalAddress());
      try (SocketChannel accepted = server.accept()) {
        client.write(Sockets.bytes("file"));
        assertThat(Sockets.text(accepted, 4)).isEqualTo("file");
      }
      assertThat(provider.counters().platformStreams()).isZero();
    }
  }
}
