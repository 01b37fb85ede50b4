package org.hghca.programs.pingpong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.hghca.programs.peer.PeerException;
import org.hghca.verbs.Gid;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.WrapMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One end of the exchange against literal bytes of the other. */
class AddressExchangeTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final Duration SHORT = Duration.ofMillis(100);

  private static final QpEndpoint OURS =
      new QpEndpoint(0, 0x12, 0xabcdef, Gid.ofHex("00000000000000000000ffff0a630001"));
  private static final String OUR_TEXT = "0000:000012:abcdef:00000000000000000000ffff0a630001\0";
  private static final QpEndpoint THEIRS =
      new QpEndpoint(0x1f, 0xfffffe, 1, Gid.ofHex("fe80000000000000505400fffe630b00"));
  private static final String THEIR_TEXT = "001f:fffffe:000001:fe80000000000000505400fffe630b00\0";
  private static final QpEndpoint OURS_WITH_MEMORY =
      with(OURS, new WrapMemory(0x8100_0002, 0xffff_ffff_ffff_e000L, 4096));
  private static final String OUR_TEXT_WITH_MEMORY =
      "0000:000012:abcdef:00000000000000000000ffff0a630001:81000002:ffffffffffffe000:00001000\0";
  private static final QpEndpoint THEIRS_WITH_MEMORY =
      with(THEIRS, new WrapMemory(7, 0x1_0000, 8192));
  private static final String THEIR_TEXT_WITH_MEMORY =
      "001f:fffffe:000001:fe80000000000000505400fffe630b00:00000007:0000000000010000:00002000\0";
  private static final String NONE = "0000:000000:000000:00000000000000000000000000000000\0";

  private final List<String> steps = new ArrayList<>();
  private ServerSocket listener;

  private static QpEndpoint with(QpEndpoint one, WrapMemory memory) {
    return new QpEndpoint(one.lid(), one.qpNumber(), one.psn(), one.gid(), Optional.of(memory));
  }

  @BeforeEach
  void listen() throws IOException {
    listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  }

  @AfterEach
  void close() throws IOException {
    listener.close();
  }

  /** One end, in a thread of its own. */
  private interface Program {
    List<QpEndpoint> run() throws InterruptedException;
  }

  private static CompletableFuture<List<QpEndpoint>> start(Program program) {
    CompletableFuture<List<QpEndpoint>> result = new CompletableFuture<>();
    Thread.ofPlatform()
        .start(
            () -> {
              try {
                result.complete(program.run());
              } catch (InterruptedException | RuntimeException e) {
                result.completeExceptionally(e);
              }
            });
    return result;
  }

  private CompletableFuture<List<QpEndpoint>> startClient(int addresses, Duration limit) {
    return startClient(addresses, limit, OURS);
  }

  private CompletableFuture<List<QpEndpoint>> startClient(
      int addresses, Duration limit, QpEndpoint own) {
    return start(
        () ->
            new AddressExchange(addresses, limit)
                .withServer("127.0.0.1", listener.getLocalPort(), List.of(own)));
  }

  private CompletableFuture<List<QpEndpoint>> startServer(int addresses, Duration limit)
      throws IOException {
    return startServer(addresses, limit, OURS);
  }

  private CompletableFuture<List<QpEndpoint>> startServer(
      int addresses, Duration limit, QpEndpoint own) throws IOException {
    listener.close();
    int port = listener.getLocalPort();
    return start(
        () ->
            new AddressExchange(addresses, limit)
                .withClient(port, List.of(own), peers -> steps.add("connected")));
  }

  private Socket connect() throws IOException {
    Instant end = Instant.now().plus(LIMIT);
    while (true) {
      try {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), listener.getLocalPort());
        socket.setTcpNoDelay(true);
        return socket;
      } catch (IOException e) {
        if (Instant.now().isAfter(end)) {
          throw e;
        }
      }
    }
  }

  private static void send(Socket peer, String text) throws IOException {
    peer.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
  }

  private static String receive(Socket peer, int bytes) throws IOException {
    return new String(peer.getInputStream().readNBytes(bytes), StandardCharsets.US_ASCII);
  }

  private static List<QpEndpoint> result(CompletableFuture<List<QpEndpoint>> program)
      throws Exception {
    return program.get(30, TimeUnit.SECONDS);
  }

  private static void assertFails(
      CompletableFuture<List<QpEndpoint>> program, String line, String reason) {
    assertThatThrownBy(() -> result(program))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOf(StepFailedException.class)
        .hasMessage(line)
        .cause()
        .isInstanceOf(PeerException.class)
        .hasMessageContaining(reason);
  }

  @Test
  void clientSendsItsAddressFirstAndThenDone() throws Exception {
    CompletableFuture<List<QpEndpoint>> client = startClient(1, LIMIT);
    try (Socket peer = listener.accept()) {
      assertThat(OUR_TEXT).hasSize(52);
      assertThat(receive(peer, 52)).isEqualTo(OUR_TEXT);
      send(peer, THEIR_TEXT);
      assertThat(receive(peer, 100)).isEqualTo("done\0"); // and nothing more
    }
    assertThat(result(client)).containsExactly(THEIRS);
  }

  @Test
  void originalsReadEachMessageAtOnce() throws Exception {
    CompletableFuture<List<QpEndpoint>> client = startClient(1, LIMIT);
    try (Socket peer = listener.accept()) {
      byte[] buffer = new byte[100];
      assertThat(peer.getInputStream().read(buffer)).isEqualTo(52);
      send(peer, THEIR_TEXT);
      assertThat(peer.getInputStream().read(buffer)).isEqualTo(5);
    }
    result(client);
  }

  @Test
  void serverConnectsBeforeItAnswers() throws Exception {
    CompletableFuture<List<QpEndpoint>> server = startServer(1, LIMIT);
    try (Socket peer = connect()) {
      send(peer, THEIR_TEXT);
      assertThat(receive(peer, 52)).isEqualTo(OUR_TEXT);
      assertThat(steps).containsExactly("connected");
      assertThat(server).isNotDone();
      send(peer, "done\0");
      assertThat(result(server)).containsExactly(THEIRS);
    }
  }

  @Test
  void sharingClientSends256Addresses() throws Exception {
    CompletableFuture<List<QpEndpoint>> client = startClient(256, LIMIT);
    try (Socket peer = listener.accept()) {
      assertThat(receive(peer, 256 * 52)).isEqualTo(OUR_TEXT + NONE.repeat(255));
      send(peer, THEIR_TEXT + NONE.repeat(255));
      assertThat(receive(peer, 100)).isEqualTo("done\0");
    }
    assertThat(result(client)).hasSize(256).startsWith(THEIRS);
  }

  @Test
  void sharingServerAnswersToThe256th() throws Exception {
    CompletableFuture<List<QpEndpoint>> server = startServer(256, LIMIT);
    try (Socket peer = connect()) {
      send(peer, NONE.repeat(255));
      send(peer, THEIR_TEXT);
      assertThat(receive(peer, 256 * 52)).isEqualTo(OUR_TEXT + NONE.repeat(255));
      send(peer, "done\0");
      assertThat(result(server)).hasSize(256).endsWith(THEIRS);
    }
  }

  @Test
  void clientThatOffersMemorySendsIt() throws Exception {
    CompletableFuture<List<QpEndpoint>> client = startClient(1, LIMIT, OURS_WITH_MEMORY);
    try (Socket peer = listener.accept()) {
      assertThat(receive(peer, 87)).isEqualTo(OUR_TEXT_WITH_MEMORY);
      send(peer, THEIR_TEXT_WITH_MEMORY);
      assertThat(receive(peer, 100)).isEqualTo("done\0");
    }
    assertThat(result(client)).containsExactly(THEIRS_WITH_MEMORY);
  }

  @Test
  void clientThatOffersMemoryTakesAnAnswerWithoutIt() throws Exception {
    CompletableFuture<List<QpEndpoint>> client = startClient(1, LIMIT, OURS_WITH_MEMORY);
    try (Socket peer = listener.accept()) {
      assertThat(receive(peer, 87)).isEqualTo(OUR_TEXT_WITH_MEMORY);
      send(peer, THEIR_TEXT);
      assertThat(receive(peer, 100)).isEqualTo("done\0");
    }
    assertThat(result(client)).containsExactly(THEIRS);
  }

  @Test
  void serverOffersMemoryToClientsThatOfferIt() throws Exception {
    CompletableFuture<List<QpEndpoint>> server = startServer(2, LIMIT, OURS_WITH_MEMORY);
    try (Socket peer = connect()) {
      send(peer, THEIR_TEXT_WITH_MEMORY + NONE);
      assertThat(receive(peer, 87 + 52)).isEqualTo(OUR_TEXT_WITH_MEMORY + NONE);
      send(peer, "done\0");
      assertThat(result(server)).startsWith(THEIRS_WITH_MEMORY).hasSize(2);
    }
  }

  /** As the originals do, which know no memory. */
  @Test
  void serverOffersNoMemoryToClientsThatOfferNone() throws Exception {
    CompletableFuture<List<QpEndpoint>> server = startServer(1, LIMIT, OURS_WITH_MEMORY);
    try (Socket peer = connect()) {
      send(peer, THEIR_TEXT);
      assertThat(receive(peer, 52)).isEqualTo(OUR_TEXT);
      send(peer, "done\0");
      assertThat(peer.getInputStream().read()).isEqualTo(-1);
      assertThat(result(server)).containsExactly(THEIRS);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "00000000:0000000000010000:00001000\0", // no key
        "00000007:0000000000010000:00000fff\0", // too short
        "00000007:fffffffffffff001:00001000\0", // beyond the end of the address space
        "00000007:0000000000010000:000010000",
        "00000007 0000000000010000:00001000\0"
      })
  void memoryThatNobodyOffersIsQuoted(String memory) throws Exception {
    CompletableFuture<List<QpEndpoint>> server = startServer(1, LIMIT);
    try (Socket peer = connect()) {
      send(peer, THEIR_TEXT.replace('\0', ':') + memory);
      assertFails(
          server,
          "Couldn't read remote address",
          " sent '%s:".formatted(THEIR_TEXT.substring(0, 51)));
    }
    assertThat(steps).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET / HTTP/1.1 Host: localhost User-Agent: a browser",
        "0000:000000:000000:000000000000000000000000000000001",
        "0000 000000:000000:00000000000000000000000000000000\0",
        "00g0:000000:000000:00000000000000000000000000000000\0",
        "0000:000000:000000:00000000:00000000000000000000000\0",
        "0000:000000:000000:0000000000000000000000000000000\0\0"
      })
  void anythingElseIsQuoted(String text) throws Exception {
    String reason = " sent '%s' instead of an address".formatted(text.replace('\0', '?'));
    CompletableFuture<List<QpEndpoint>> client = startClient(1, LIMIT);
    try (Socket peer = listener.accept()) {
      send(peer, text);
      assertFails(client, "Couldn't read/write remote address", reason);
    }
    CompletableFuture<List<QpEndpoint>> server = startServer(1, LIMIT);
    try (Socket peer = connect()) {
      send(peer, text);
      assertFails(server, "Couldn't read remote address", reason);
    }
    assertThat(steps).isEmpty();
  }

  @Test
  void silenceEndsAfterTheLimit() throws Exception {
    CompletableFuture<List<QpEndpoint>> client = startClient(1, SHORT);
    try (Socket _ = listener.accept()) {
      assertFails(client, "Couldn't read/write remote address", "sent 0 of the 52 bytes");
    }
    CompletableFuture<List<QpEndpoint>> server = startServer(256, SHORT);
    try (Socket peer = connect()) {
      send(peer, THEIR_TEXT + "0000");
      assertFails(server, "Couldn't read remote address", "sent 4 of the 52 bytes");
    }
  }

  @Test
  void clientThatDoesNotEndTheExchangeIsNamed() throws Exception {
    CompletableFuture<List<QpEndpoint>> server = startServer(1, LIMIT);
    try (Socket peer = connect()) {
      send(peer, THEIR_TEXT + "quit\0");
      assertFails(server, "Couldn't send/recv local address", " sent 'quit?' instead of 'done'");
    }
  }

  @Test
  void peersThatLeaveAreNamed() throws Exception {
    CompletableFuture<List<QpEndpoint>> client = startClient(1, LIMIT);
    try (Socket peer = listener.accept()) {
      receive(peer, 52);
      peer.shutdownOutput();
      assertFails(client, "Couldn't read/write remote address", "ended the connection after 0");
    }
    CompletableFuture<List<QpEndpoint>> server = startServer(1, LIMIT);
    try (Socket peer = connect()) {
      send(peer, THEIR_TEXT);
      receive(peer, 52);
      peer.shutdownOutput();
      assertFails(server, "Couldn't send/recv local address", "ended the connection after 0");
    }
  }

  @Test
  void usedPortIsNamed() {
    CompletableFuture<List<QpEndpoint>> server =
        start(
            () ->
                new AddressExchange(1, LIMIT)
                    .withClient(listener.getLocalPort(), List.of(OURS), peers -> {}));
    assertFails(
        server,
        "Couldn't listen to port " + listener.getLocalPort(),
        "port %d: Address already in use".formatted(listener.getLocalPort()));
  }
}
