package org.hghca.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import org.hghca.sockets.MemoryDevice.Network;
import org.hghca.sockets.policy.SocketSettings;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class FallbackTest {
  private static final String ANY = "127.0.0.0/8";

  /** Its address is one of the host's, so that a peer's may be, too. */
  private final MemoryDevice device = new Network().device("127.0.0.9");

  private RdmaSelectorProvider provider;
  private ServerSocketChannel tcp;

  @BeforeEach
  void open() throws IOException {
    provider = fallback("PT0.001S");
    tcp =
        provider
            .platform()
            .openServerSocketChannel()
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  private RdmaSelectorProvider fallback(String after) throws IOException {
    return Sockets.provider(
        device,
        SocketSettings.NETWORKS,
        ANY,
        SocketSettings.FALLBACK,
        "tcp",
        SocketSettings.FALLBACK_AFTER,
        after);
  }

  @Test
  void whatRdmaDoesNotAnswerIsConnectedOverTcp() throws IOException {
    try (SocketChannel client = provider.openSocketChannel()) {
      client.connect(tcp.getLocalAddress());

      try (SocketChannel accepted = tcp.accept()) {
        accepted.write(Sockets.bytes("tcp"));
        assertThat(Sockets.text(client, 3)).isEqualTo("tcp");
      }
      assertThat(device.lastConnect.await(Long.MAX_VALUE)).isTrue();
      assertThat(device.lastConnect.cancelled).isTrue();
      assertThat(provider.counters().platformStreams()).isEqualTo(1);
    }
  }

  @Test
  void soItIsWithASelector() throws IOException {
    try (SocketChannel client = provider.openSocketChannel();
        Selector selector = provider.openSelector()) {
      client.configureBlocking(false);
      SelectionKey key = client.register(selector, SelectionKey.OP_CONNECT);
      assertThat(client.connect(tcp.getLocalAddress())).isFalse();

      assertThat(selector.select()).isEqualTo(1);
      assertThat(client.finishConnect()).isTrue();
      key.interestOps(SelectionKey.OP_READ);
      selector.selectedKeys().clear();
      try (SocketChannel accepted = tcp.accept()) {
        accepted.write(Sockets.bytes("x"));
        assertThat(selector.select()).isEqualTo(1);
        assertThat(client.read(ByteBuffer.allocate(1))).isEqualTo(1);
      }
    }
  }

  @Test
  void whereRdmaAnswersTcpIsNotTried() throws IOException {
    RdmaSelectorProvider patient = fallback("PT1H");
    try (ServerSocketChannel server = patient.openServerSocketChannel();
        SocketChannel client = patient.openSocketChannel()) {
      server.bind(new InetSocketAddress("127.0.0.9", 0));
      client.connect(server.getLocalAddress());
      server.accept().close();

      assertThat(patient.counters())
          .returns(1L, SocketCounters::connected)
          .returns(0L, SocketCounters::platformStreams);
    }
  }

  @Test
  void aServerAcceptsOverBoth() throws IOException {
    try (ServerSocketChannel server = provider.openServerSocketChannel()) {
      server.bind(new InetSocketAddress("127.0.0.9", 0));
      SocketAddress address = server.getLocalAddress();
      for (SocketChannel client :
          new SocketChannel[] {
            provider.openSocketChannel(), provider.platform().openSocketChannel()
          }) {
        try (client) {
          client.connect(address);
          try (SocketChannel accepted = server.accept()) {
            accepted.write(Sockets.bytes("ok"));
            assertThat(Sockets.text(client, 2)).isEqualTo("ok");
          }
        }
      }
      assertThat(provider.counters())
          .returns(1L, SocketCounters::accepted)
          .returns(1L, SocketCounters::platformStreams);
    }
  }

  @Test
  void whereNeitherAnswersItIsAsOverTcp() throws Exception {
    SocketAddress address = tcp.getLocalAddress();
    tcp.close();
    try (SocketChannel client = provider.openSocketChannel()) {
      Thread refusing =
          Thread.ofVirtual()
              .start(
                  () -> {
                    while (device.lastConnect == null) {
                      Thread.onSpinWait();
                    }
                    device.lastConnect.answer();
                  });
      assertThatThrownBy(() -> client.connect(address))
          .isInstanceOf(ConnectException.class)
          .hasMessage("Connection refused");
      assertThat(refusing.join(Duration.ofSeconds(20))).as("RDMA was asked").isTrue();
    }
  }
}
