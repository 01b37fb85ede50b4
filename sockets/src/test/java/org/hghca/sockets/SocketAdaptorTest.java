package org.hghca.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.IllegalBlockingModeException;
import org.hghca.sockets.MemoryDevice.Network;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class SocketAdaptorTest {
  private final MemoryDevice device = new Network().device("10.0.0.1");
  private RdmaSelectorProvider provider;

  @BeforeEach
  void open() throws IOException {
    provider = Sockets.provider(device);
  }

  @ParameterizedTest
  @ValueSource(strings = {"10.0.0.1", "127.0.0.1"})
  void movesBytesWithTimeOutsOverBothKinds(String address) throws IOException {
    try (ServerSocket server = provider.openServerSocketChannel().socket();
        Socket client = provider.openSocketChannel().socket()) {
      assertThat(server.isBound()).isFalse();
      server.bind(new InetSocketAddress(address, 0));
      server.setSoTimeout(1);
      assertThatThrownBy(server::accept)
          .isInstanceOf(SocketTimeoutException.class)
          .hasMessage("Accept timed out");
      client.setTcpNoDelay(true);
      client.connect(server.getLocalSocketAddress(), 10_000);
      server.setSoTimeout(10_000);
      try (Socket accepted = server.accept()) {
        client.getOutputStream().write(Sockets.random(500));
        assertThat(accepted.getInputStream().readNBytes(500)).isEqualTo(Sockets.random(500));
        accepted.getOutputStream().write(7);
        assertThat(client.getInputStream().read()).isEqualTo(7);
        client.setSoTimeout(1);
        assertThatThrownBy(() -> client.getInputStream().read())
            .isInstanceOf(SocketTimeoutException.class)
            .hasMessage("Read timed out");
        assertThat(client.isClosed()).isFalse();
        accepted.shutdownOutput();
        client.setSoTimeout(0);
        assertThat(client.getInputStream().read()).isEqualTo(-1);
        assertThat(accepted.isOutputShutdown()).isTrue();
        assertThatThrownBy(accepted::getOutputStream)
            .isInstanceOf(SocketException.class)
            .hasMessage("Socket output is shutdown");
        assertThat(client.getInetAddress().getHostAddress()).isEqualTo(address);
        assertThat(client.getPort()).isEqualTo(server.getLocalPort());
        assertThat(accepted.getPort()).isEqualTo(client.getLocalPort());
        assertThat(client.getTcpNoDelay()).isTrue();
        assertThat(client.getChannel().socket()).isSameAs(client);
      }
    }
  }

  @Test
  void aConnectWithoutAnAnswerTimesOutAndCloses() throws IOException {
    try (Socket client = provider.openSocketChannel().socket()) {
      assertThatThrownBy(() -> client.connect(new InetSocketAddress("10.9.9.9", 1), 1))
          .isInstanceOf(SocketTimeoutException.class)
          .hasMessage("Connect timed out");
      assertThat(client.isClosed()).isTrue();
      assertThat(device.lastConnect.cancelled).isTrue();
    }
  }

  @SuppressWarnings("try") // one is closed before the end
  @Test
  void statesThatForbidACallAreSocketExceptions() throws IOException {
    try (Socket client = provider.openSocketChannel().socket()) {
      assertThatThrownBy(client::getInputStream)
          .isInstanceOf(SocketException.class)
          .hasMessage("Socket is not connected");
      assertThatThrownBy(client::shutdownInput).hasMessage("Socket is not connected");
      assertThatThrownBy(() -> client.setReceiveBufferSize(0))
          .isInstanceOf(IllegalArgumentException.class);
      assertThat(client.getLocalPort()).isEqualTo(-1);
      assertThat(client.getPort()).isZero();
      client.getChannel().configureBlocking(false);
      assertThatThrownBy(() -> client.connect(new InetSocketAddress("10.0.0.1", 1)))
          .isInstanceOf(IllegalBlockingModeException.class);
      client.close();
      assertThatThrownBy(client::getTcpNoDelay).hasMessage("Socket is closed");
    }
    try (Socket client = provider.openSocketChannel().socket()) {
      assertThatThrownBy(() -> client.connect(InetSocketAddress.createUnresolved("x.test", 1)))
          .isInstanceOf(UnknownHostException.class);
    }
  }
}
