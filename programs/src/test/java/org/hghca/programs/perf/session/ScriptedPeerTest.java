package org.hghca.programs.perf.session;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.hghca.programs.peer.PeerException;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.Parameters.Amount;
import org.hghca.programs.perf.Parameters.AtomicKind;
import org.hghca.programs.perf.Parameters.Queues;
import org.hghca.programs.perf.Parameters.Report;
import org.hghca.programs.perf.Parameters.Route;
import org.hghca.programs.perf.PerfException;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.medium.Device;
import org.hghca.programs.perf.result.Limits;
import org.hghca.programs.perf.run.Watcher;
import org.hghca.verbs.QpType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One run against a plain socket that speaks as perftest 6.24 does, byte for byte. */
class ScriptedPeerTest {
  private static final Route ROUTE = Route.tcp(1, OptionalInt.empty());
  private static final Parameters PARAMETERS =
      new Parameters(
          PerfTest.IB_WRITE_BW,
          QpType.RC,
          new Amount(4096, false, false, 100, Optional.empty(), Optional.empty()),
          new Queues(1, 16, 1, 1, 1, 0, 0, false, false, AtomicKind.FETCH_AND_ADD),
          ROUTE,
          new Report(false, true, false, false, Optional.empty(), false, Limits.NONE));

  /** What perftest's queue pair would be: nothing is sent to it. */
  private static final String ADDRESS =
      "0000:0001:000011:abcdef:00001234:00007f0000001000:"
          + "00:00:00:00:00:00:00:00:00:00:ff:ff:7f:00:00:09:00000000:\0";

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private ServerSocket listener;
  private CompletableFuture<Boolean> run;
  private Thread running;
  private Socket peer;

  @BeforeEach
  void listen() throws IOException {
    listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    listener.setSoTimeout(30_000);
  }

  @AfterEach
  void end() throws Exception {
    if (running != null) {
      running.interrupt();
      running.join();
    }
    if (peer != null) {
      peer.close();
    }
    listener.close();
  }

  private void start(Optional<String> server, int port) {
    run = new CompletableFuture<>();
    running =
        Thread.ofPlatform()
            .start(
                () -> {
                  try (Device device = Device.open("model:a?net=udp:127.0.5.64", ROUTE)) {
                    run.complete(
                        new PerfSession(
                                PARAMETERS,
                                _ -> PARAMETERS,
                                device,
                                new PrintWriter(out),
                                new PrintWriter(err),
                                _ -> {},
                                Watcher.none())
                            .run(server, port));
                  } catch (InterruptedException | RuntimeException e) {
                    run.completeExceptionally(e);
                  }
                });
  }

  /** Ours is the client of the socket. */
  private void startClient() throws IOException {
    start(Optional.of("127.0.0.1"), listener.getLocalPort());
    peer = listener.accept();
  }

  /** Ours is the server. */
  private void startServer() throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    start(Optional.empty(), port);
    while (peer == null) {
      try {
        peer = new Socket(InetAddress.getLoopbackAddress(), port);
      } catch (IOException e) {
        assertThat(run).isNotDone();
      }
    }
  }

  private String read(int length) throws IOException {
    return new String(peer.getInputStream().readNBytes(length), US_ASCII);
  }

  private void write(String message) throws IOException {
    peer.getOutputStream().write(message.getBytes(US_ASCII));
  }

  private void writeHex(String digits) throws IOException {
    peer.getOutputStream().write(HexFormat.of().parseHex(digits));
  }

  private String readHex(int length) throws IOException {
    return HexFormat.of().formatHex(peer.getInputStream().readNBytes(length));
  }

  private static String padded(String version) {
    return new String(Arrays.copyOf(version.getBytes(US_ASCII), 16), US_ASCII);
  }

  /** The client writes first; the server reads first. */
  private void exchangeAsClient(String message, String answer) throws IOException {
    write(message);
    assertThat(read(answer.length())).isEqualTo(answer);
  }

  @Test
  void serverSpeaksAsPerftest() throws Exception {
    startServer();
    exchangeAsClient(padded("6.24"), "6.27\0\0\0\0\0\0\0hghca");
    writeHex("00001000");
    assertThat(readHex(4)).isEqualTo("00001000");
    writeHex("00000040");
    assertThat(readHex(4)).isEqualTo("00000040");
    exchangeAsClient("3\0", "5\0");
    write(ADDRESS);
    String ours = read(108);
    assertThat(ours)
        .matches(
            "0000:0001:[0-9a-f]{6}:[0-9a-f]{6}:[0-9a-f]{8}:[0-9a-f]{16}:([0-9a-f]{2}:){16}00000000:\0");
    for (int i = 0; i < 2; i++) { // as the remote address; both are connected
      exchangeAsClient(ADDRESS, ours);
    }
    exchangeAsClient(ADDRESS, ours); // the client has measured
    for (String value :
        new String[] {
          "0000000000001000", // size
          "0000000000000064", // iterations
          "4059000000000000", // 100.0
          "4049000000000000", // 50.0
          "3f90000000000000" // 1/64
        }) {
      writeHex(value);
      assertThat(readHex(8)).isEqualTo("0000000000000000");
    }
    exchangeAsClient(ADDRESS, ours); // the end
    assertThat(run.get()).isTrue();
    assertThat(peer.getInputStream().read()).isEqualTo(-1);
    assertThat(out.toString())
        .contains(" Mtu             : 1024[B]\n")
        .contains(
            """
             remote address: LID 0000 QPN 0x0011 PSN 0xabcdef RKey 0x001234 VAddr 0x007f0000001000
             GID: 00:00:00:00:00:00:00:00:00:00:255:255:127:00:00:09
            """)
        .contains(" 4096       100              100.00             50.00  \t\t     0.015625\n");
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void serverSaysThatTheClientMeasuredAnotherSize() throws Exception {
    startServer();
    exchangeAsClient(padded("6.06"), "6.27\0\0\0\0\0\0\0hghca");
    writeHex("00001000");
    assertThat(readHex(4)).isEqualTo("00001000");
    writeHex("00000040");
    assertThat(readHex(4)).isEqualTo("00000040");
    exchangeAsClient("5\0", "5\0");
    for (int i = 0; i < 4; i++) {
      write(ADDRESS);
      assertThat(read(108)).hasSize(108);
    }
    for (int i = 0; i < 5; i++) {
      writeHex("0000000000000008");
      assertThat(readHex(8)).hasSize(16);
    }
    write(ADDRESS);
    assertThat(read(108)).hasSize(108);
    write("done\0"); // as versions up to 6.06 do
    assertThat(run.get()).isTrue();
    assertThat(err.toString())
        .isEqualTo(
            "ib_write_bw: the client measured messages of 8 bytes; this server was started for"
                + " 4096\n");
  }

  @Test
  void clientSpeaksFirst() throws Exception {
    startClient();
    assertThat(read(16)).isEqualTo("6.27\0\0\0\0\0\0\0hghca");
    write(padded("6.24"));
    assertThat(readHex(4)).isEqualTo("00001000");
    writeHex("00010000");
    assertThat(readHex(4)).isEqualTo("00000040");
    writeHex("00000080");
    assertThat(read(2)).isEqualTo("5\0");
    write("3\0");
    assertThat(read(108)).endsWith(":00000000:\0");
    write("0003:0001:000011:abcdef:00001234:00007f0000001000:00000000\0");
    assertThatThrownBy(() -> run.get())
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOf(PerfException.class)
        .hasMessage("the peer uses no GID, which Ethernet needs: give it -x");
  }

  @ParameterizedTest
  @CsvSource({
    "4.60, 'the peer is perftest 4.60, whose conversation differs from that of 6.27'",
    "GET / HTTP/1.1, 'sent ''GET / HTTP/1.1??'' instead of its version of perftest'"
  })
  void otherVersionIsRefused(String version, String message) throws Exception {
    startClient();
    assertThat(read(16)).hasSize(16);
    write(padded(version));
    assertThatThrownBy(() -> run.get())
        .isInstanceOf(ExecutionException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource({
    "00000000, 00000040, 3, 'sent 0 as its page size: expected a power of two up to 2^24'",
    "7fffffff, 00000040, 3, 'sent 2147483647 as its page size'",
    "00001000, 00000041, 3, 'sent 65 as its cache line size'",
    "00001000, 00000040, 9, 'instead of an MTU from 1 to 5'"
  })
  void garbageIsRefused(String page, String line, String mtu, String message) throws Exception {
    startServer();
    // At once: it ends the connection at the first wrong value.
    String hex = HexFormat.of().formatHex(padded("6.24").getBytes(US_ASCII));
    writeHex(hex + page + line + "3" + mtu + "00");
    assertThatThrownBy(() -> run.get())
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOf(PeerException.class)
        .hasMessageContaining(message);
  }

  @Test
  void peerThatLeavesIsNamed() throws Exception {
    startServer();
    write(padded("6.24"));
    peer.shutdownOutput();
    assertThatThrownBy(() -> run.get())
        .isInstanceOf(ExecutionException.class)
        .hasMessageContaining("ended the connection after 0 of the 4 bytes of its page size");
  }
}
