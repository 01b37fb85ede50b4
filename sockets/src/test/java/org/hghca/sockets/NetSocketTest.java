package org.hghca.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import org.hghca.sockets.MemoryDevice.Network;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The JDK's own sockets, over channels of the provider. */
@Timeout(30)
class NetSocketTest {
  private RdmaSelectorProvider provider;

  @BeforeEach
  void open() throws IOException {
    provider = Sockets.provider(new Network().device("10.0.0.1"));
  }

  private Socket socket() throws IOException {
    return new Socket(new NetSocketImpl(provider, false)) {};
  }

  /** Accepts as one that was made by a factory. */
  private final class Server extends ServerSocket {
    Server() {
      super(new NetSocketImpl(provider, true));
    }

    @Override
    public Socket accept() throws IOException {
      Socket accepted = socket();
      implAccept(accepted);
      return accepted;
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"10.0.0.1", "127.0.0.1"})
  void movesBytesWithTimeOutsOverBothKinds(String address) throws IOException {
    try (ServerSocket server = new Server();
        Socket client = socket()) {
      server.bind(new InetSocketAddress(address, 0));
      server.setSoTimeout(1);
      assertThatThrownBy(server::accept).isInstanceOf(SocketTimeoutException.class);
      client.connect(server.getLocalSocketAddress(), 10_000);
      server.setSoTimeout(0);
      try (Socket accepted = server.accept()) {
        client.getOutputStream().write(Sockets.random(500));
        assertThat(accepted.getInputStream().readNBytes(500)).isEqualTo(Sockets.random(500));
        client.setSoTimeout(1);
        assertThatThrownBy(() -> client.getInputStream().read())
            .isInstanceOf(SocketTimeoutException.class);
        accepted.shutdownOutput();
        client.setSoTimeout(0);
        assertThat(client.getInputStream().read()).isEqualTo(-1);
        assertThat(client.getInetAddress().getHostAddress()).isEqualTo(address);
        assertThat(client.getLocalAddress().getHostAddress()).isEqualTo(address);
        assertThat(client.getPort()).isEqualTo(server.getLocalPort());
        assertThat(accepted.getPort()).isEqualTo(client.getLocalPort());
      }
    }
    assertThat(provider.counters().platformStreams()).isEqualTo(address.startsWith("10") ? 0 : 2);
  }

  @Test
  void answersOptionsAsTheyWereSet() throws IOException {
    try (Socket socket = socket();
        ServerSocket server = new Server()) {
      assertThat(socket.getSoLinger()).isEqualTo(-1);
      socket.setSoLinger(true, 5);
      socket.setTcpNoDelay(true);
      socket.setKeepAlive(true);
      socket.setReceiveBufferSize(8192);
      socket.setTrafficClass(16);
      server.setReuseAddress(true);
      server.setSoTimeout(7);

      assertThat(socket.getSoLinger()).isEqualTo(5);
      assertThat(socket.getTcpNoDelay()).isTrue();
      assertThat(socket.getKeepAlive()).isTrue();
      assertThat(socket.getReceiveBufferSize()).isEqualTo(8192);
      assertThat(socket.getTrafficClass()).isEqualTo(16);
      assertThat(socket.getOption(StandardSocketOptions.SO_RCVBUF)).isEqualTo(8192);
      assertThat(server.getReuseAddress()).isTrue();
      assertThat(server.getSoTimeout()).isEqualTo(7);
      socket.setSoLinger(false, 0);
      assertThat(socket.getSoLinger()).isEqualTo(-1);
    }
  }

  @Test
  void aConnectThatIsRefusedSaysSo() throws IOException {
    try (Socket socket = socket()) {
      assertThatThrownBy(() -> socket.connect(new InetSocketAddress("10.0.0.1", 1)))
          .isInstanceOf(ConnectException.class)
          .hasMessageStartingWith("Connection refused");
    }
  }
}
