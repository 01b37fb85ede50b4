package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The programs of rdma-core. Their time-out is 67 ms, which an emulated processor that is not
 * scheduled exceeds: soft RoCE then repeats without need, and stops for good when the ACK of all of
 * it comes in the middle of more than 64 packets. Messages here have fewer.
 */
@WithEachCard
@DisplayName("unmodified")
class PingpongTest {
  /** The host's address in QEMU's user network. */
  private static final String HOST = "10.0.2.2";

  private static final int MESSAGES = 100;
  private static final int SHARING = 16;
  private static final int TCP_MILLIS = 60_000;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private Bench bench;

  @BeforeEach
  void take(Bench itsBench) {
    bench = itsBench;
  }

  private Pingpong peer(String kind, int size, int mtu) {
    boolean shares = kind.equals("srq");
    if (shares) {
      bench.assume(DeviceFeature.SHARED_RECEIVE_QUEUES);
    }
    QpType type = shares ? QpType.RC : QpType.valueOf(kind.toUpperCase(Locale.ROOT));
    return new Pingpong(bench, type, shares, shares ? SHARING : 1, size, mtu(mtu));
  }

  private static Mtu mtu(int bytes) {
    return Mtu.valueOf("MTU_" + bytes);
  }

  /** UD has no path MTU. */
  private String program(String kind, int size, int mtu, int port) {
    return "ibv_%s_pingpong -d rxe0 -g %d -s %d -n %d -p %d%s"
        .formatted(
            kind, bench.gidIndex(), size, MESSAGES, port, kind.equals("ud") ? "" : " -m " + mtu);
  }

  @ParameterizedTest(
      name = "ibv_{0}_pingpong as server, {1} bytes, path MTU {2}",
      quoteTextArguments = false)
  @CsvSource({
    "rc, 1, 1024",
    "rc, 4096, 256",
    "rc, 65536, 4096",
    "uc, 1, 1024",
    "uc, 4096, 1024",
    "uc, 65536, 4096",
    "ud, 1, 4096",
    "ud, 4096, 4096",
    "srq, 4096, 1024"
  })
  void guestServes(String kind, int size, int mtu) throws IOException {
    bench.guest().ask("start", "name", "server", "command", program(kind, size, mtu, 18515));
    try (Pingpong peer = peer(kind, size, mtu);
        Socket _ = connect(peer)) {
      peer.play(MESSAGES);
    }
    ended("server");
  }

  /** Until the program listens, QEMU accepts connections and ends them. */
  private static Socket connect(Pingpong peer) throws IOException {
    Instant end = Instant.now().plus(PATIENCE);
    while (true) {
      Socket socket =
          new Socket(InetAddress.getLoopbackAddress(), Integer.getInteger("hghca.lab.rxe.tcp"));
      socket.setSoTimeout(TCP_MILLIS);
      socket.setTcpNoDelay(true);
      try {
        peer.connectAsClient(socket);
        return socket;
      } catch (IOException e) {
        socket.close();
        if (Instant.now().isAfter(end)) {
          throw e;
        }
      }
    }
  }

  @ParameterizedTest(
      name = "ibv_{0}_pingpong as client, {1} bytes, path MTU {2}",
      quoteTextArguments = false)
  @CsvSource({
    "rc, 1, 1024",
    "rc, 4096, 1024",
    "rc, 16384, 512",
    "uc, 1, 1024",
    "uc, 65536, 4096",
    "ud, 1, 4096",
    "ud, 1024, 4096",
    "srq, 4096, 1024"
  })
  void guestIsClient(String kind, int size, int mtu) throws IOException {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Pingpong peer = peer(kind, size, mtu)) {
      server.setSoTimeout(TCP_MILLIS);
      String command = program(kind, size, mtu, server.getLocalPort()) + " " + HOST;
      bench.guest().ask("start", "name", "client", "command", command);
      try (Socket socket = server.accept()) {
        socket.setSoTimeout(TCP_MILLIS);
        socket.setTcpNoDelay(true);
        peer.connectAsServer(socket);
        peer.play(MESSAGES);
      }
    }
    ended("client");
  }

  private void ended(String name) {
    Map<String, String> end = bench.guest().ask("wait", "name", name, "seconds", 60);
    assertThat(end.get("status")).as(end.get("output")).isEqualTo("0");
    assertThat(end.get("output")).contains("%d iters in".formatted(MESSAGES));
  }
}
