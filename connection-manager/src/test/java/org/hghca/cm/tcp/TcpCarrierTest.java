package org.hghca.cm.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.hghca.cm.carrier.ConnectReply;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Handshake;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.Registration;
import org.hghca.cm.carrier.Requests;
import org.hghca.cm.carrier.ServiceRequest;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The TCP carrier against peers that are hostile, of another version, or die. */
class TcpCarrierTest {
  private static final Duration SHORT = Duration.ofMillis(300);
  private static final Limits LIMITS =
      new Limits(
          Duration.ofSeconds(5),
          SHORT,
          Duration.ofSeconds(1),
          Duration.ofSeconds(1),
          Duration.ofMillis(10),
          2);

  private final Context context = RdmaDevices.open("model:tcp?cable=tcp&ip=10.0.0.1");
  private final TcpCarrier carrier = new TcpCarrier(context, LIMITS);
  private final Recorder passive = new Recorder();
  private final Recorder active = new Recorder();
  private InetSocketAddress address;
  private Registration registration;

  @BeforeEach
  void listen() throws IOException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      address = (InetSocketAddress) free.getLocalSocketAddress();
    }
    registration = carrier.listen(serviceId(), address, passive);
  }

  /** Nothing is left but what the test has not closed, which is nothing. */
  @AfterEach
  void close() {
    registration.close();
    while (carrier.size() > 0) {
      Thread.onSpinWait(); // sockets of peers that have left
    }
    carrier.close();
    context.close();
  }

  private long serviceId() {
    return 0x0106_0000L | address.getPort();
  }

  private ConnectRequest request() {
    return Requests.of(
        serviceId(),
        new InetSocketAddress(address.getAddress(), 40000),
        address,
        Requests.loop(context),
        0x11,
        1);
  }

  private ConnectReply reply() {
    return Requests.reply(request().path(), 0x12, 1);
  }

  private Socket socket(byte[] bytes) throws IOException {
    Socket socket = new Socket(address.getAddress(), address.getPort());
    socket.setSoTimeout(20_000);
    socket.getOutputStream().write(bytes);
    return socket;
  }

  private static byte[] bytes(Message message) {
    ByteBuffer encoded = message.encoded();
    byte[] bytes = new byte[encoded.remaining()];
    encoded.get(bytes);
    return bytes;
  }

  private static byte[] header(int magic, int version, int kind, int length) {
    return ByteBuffer.allocate(Message.HEADER)
        .putInt(magic)
        .putShort((short) version)
        .putShort((short) kind)
        .putInt(length)
        .array();
  }

  /** The listener still takes requests. */
  private void assertServes() throws Exception {
    try (Handshake asking = carrier.connect(request(), active);
        Handshake asked = passive.next()) {
      asked.reply(reply());
      assertThat(active.event()).isEqualTo("replied");
      asking.confirm(PrivateData.EMPTY);
      assertThat(active.event()).isEqualTo("established");
      assertThat(passive.event()).isEqualTo("established");
    }
  }

  @Test
  void garbageEndsItsSocketOnly() throws Exception {
    byte[] http = "GET / HTTP/1.0\r\nHost: here\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    try (Socket socket = socket(http)) {
      assertEnds(socket);
    }
    assertServes();
  }

  /** Reads until the end; a reset is one, too. */
  private static void assertEnds(Socket socket) throws IOException {
    try {
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    } catch (java.net.SocketException e) {
      assertThat(e).hasMessageContaining("reset");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0x7fff_ffff, -1, 513})
  void lengthIsCheckedBeforeItIsAllocated(int length) throws Exception {
    try (Socket socket = socket(header(Message.MAGIC, 1, 0, length))) {
      assertEnds(socket);
    }
    assertServes();
  }

  @Test
  void lengthOfPrivateDataIsChecked() throws Exception {
    byte[] request = bytes(Bodies.of(request()));
    request[request.length - 2] = (byte) 0xff; // the length of none at the end
    try (Socket socket = socket(request)) {
      assertEnds(socket);
    }
    assertServes();
  }

  @Test
  void requestOfAnyShorterLengthEndsItsSocket() throws Exception {
    assertShorterEnd(Bodies.of(request()));
    assertServes();
  }

  @Test
  void questionOfAnyShorterLengthEndsItsSocket() throws Exception {
    assertShorterEnd(question());
    assertServes();
  }

  private void assertShorterEnd(Message whole) throws Exception {
    for (int length = 0; length < whole.body().remaining(); length++) {
      Message part = new Message(whole.kind(), whole.body().duplicate().limit(length));
      try (Socket socket = socket(bytes(part))) {
        assertEnds(socket);
      }
    }
    assertThat(carrier.size()).as("with the listening socket").isEqualTo(1);
  }

  @Test
  void portScanIsNoticedByNobody() throws Exception {
    for (int i = 0; i < 100; i++) {
      socket(new byte[0]).close();
    }
    assertServes();
  }

  @Test
  void slowRequestsEndAtTheirDeadlineAndOthersWait() throws Exception {
    try (Socket one = socket(new byte[] {'H'});
        Socket other = socket(new byte[] {'H', 'G'})) {
      assertServes(); // there was room for two
      assertEnds(one);
      assertEnds(other);
    }
  }

  @Test
  void otherVersionIsRefusedWithItsReason() throws Exception {
    try (Socket socket = socket(header(Message.MAGIC, 2, 0, 0))) {
      ByteBuffer answer = ByteBuffer.wrap(socket.getInputStream().readNBytes(Message.HEADER + 4));
      assertThat(answer.getInt()).isEqualTo(Message.MAGIC);
      assertThat(answer.getShort()).isEqualTo((short) 1);
      assertThat(answer.getShort()).isEqualTo((short) Message.Kind.REJECT.ordinal());
      assertThat(answer.getInt()).isEqualTo(4);
      assertThat(answer.getShort()).isEqualTo((short) 31);
    }
    assertServes();
  }

  @Test
  void answerOfAnotherVersionIsARefusal() throws Exception {
    registration.close();
    try (ServerSocket server = new ServerSocket()) {
      server.bind(address);
      try (Handshake asking = carrier.connect(request(), active);
          Socket peer = server.accept()) {
        peer.getOutputStream().write(header(Message.MAGIC, 7, 1, 0));
        assertThat(active.event()).isEqualTo("rejected 31");
        assertThat(asking.toString()).contains("ENDED");
      }
    }
  }

  @Test
  void fullBacklogIsOfferedTheRequestAgain() throws Exception {
    passive.full.set(3);
    assertServes();
  }

  private Message question() {
    ConnectRequest known = request();
    return Bodies.of(
        new ServiceRequest(serviceId(), known.local(), address, known.path(), PrivateData.EMPTY));
  }

  @Test
  void peersThatLeaveGiveUpTheirPlacesBeforeAFullBacklog() throws Exception {
    passive.full.set(Integer.MAX_VALUE);
    try (Socket _ = socket(bytes(Bodies.of(request())));
        Socket _ = socket(bytes(question()))) {
      while (passive.requests.get() == 0 || passive.questions.get() == 0) {
        Thread.onSpinWait();
      }
    }
    awaitListenerAlone();
    passive.full.set(0);
    assertServes();
  }

  private void awaitListenerAlone() {
    while (carrier.size() != 1) {
      Thread.onSpinWait();
    }
  }

  @Test
  void requestsWaitForAFullBacklogAsLongAsForAnAnswer() throws Exception {
    passive.full.set(Integer.MAX_VALUE);
    try (Socket asks = socket(bytes(Bodies.of(request())));
        Socket questions = socket(bytes(question()))) {
      assertRefused(asks, 4);
      assertThat(questions.getInputStream().readAllBytes()).isNotEmpty();
      passive.full.set(0);
      assertServes();
    }
  }

  @Test
  void closedListenerRefusesWhoWaitsForItsFullBacklogWithReason8() throws Exception {
    passive.full.set(Integer.MAX_VALUE);
    try (Socket asks = socket(bytes(Bodies.of(request())));
        Socket questions = socket(bytes(question()))) {
      while (passive.requests.get() == 0 || passive.questions.get() == 0) {
        Thread.onSpinWait();
      }
      registration.close();
      assertRefused(asks, 8);
      assertRefused(questions, 8);
    }
  }

  private static void assertRefused(Socket socket, int reason) throws IOException {
    ByteBuffer refusal = ByteBuffer.wrap(socket.getInputStream().readNBytes(Message.HEADER + 2));
    assertThat(refusal.getShort(6)).isEqualTo((short) Message.Kind.REJECT.ordinal());
    assertThat(refusal.getShort(Message.HEADER)).isEqualTo((short) reason);
  }

  /** An interrupted thread that uses a channel closes it. */
  @Test
  void callsOfInterruptedThreadsReachThePeer() throws Exception {
    try (Handshake asking = carrier.connect(request(), active);
        Handshake asked = passive.next()) {
      interrupted(() -> asked.reply(reply()));
      assertThat(active.event()).isEqualTo("replied");
      interrupted(() -> asking.confirm(PrivateData.EMPTY));
      assertThat(active.event()).isEqualTo("established");
      assertThat(passive.event()).isEqualTo("established");
      interrupted(() -> asked.disconnect(PrivateData.EMPTY));
      assertThat(active.event()).isEqualTo("disconnected");
      interrupted(() -> asking.disconnect(PrivateData.EMPTY));
      assertThat(passive.event()).isEqualTo("disconnected");
      assertThat(active.event()).isEqualTo("timeWaitExited");
    }
    try (Handshake refused = carrier.connect(request(), active);
        Handshake asked = passive.next()) {
      interrupted(() -> asked.reject(28, PrivateData.EMPTY));
      assertThat(active.event()).isEqualTo("rejected 28");
      assertThat(refused.toString()).contains("ENDED");
    }
  }

  private static void interrupted(Runnable call) {
    Thread.currentThread().interrupt();
    call.run();
    assertThat(Thread.interrupted()).as("the interrupt stays").isTrue();
  }

  /** A server whose queue is full drops what asks for a connection. */
  @Test
  void socketThatDoesNotConnectNamesItsOwnLimit() throws Exception {
    registration.close();
    Limits limits =
        new Limits(
            Duration.ofSeconds(1),
            SHORT,
            Duration.ofSeconds(20),
            Duration.ofSeconds(20),
            Duration.ofMillis(10),
            2);
    List<SocketChannel> queued = new ArrayList<>();
    try (ServerSocketChannel server = ServerSocketChannel.open().bind(address, 1);
        TcpCarrier other = new TcpCarrier(context, limits)) {
      for (int i = 0; i < 8; i++) {
        SocketChannel channel = SocketChannel.open();
        channel.configureBlocking(false);
        channel.connect(server.getLocalAddress());
        queued.add(channel);
      }
      try (Handshake _ = other.connect(request(), active)) {
        assertThat(active.event())
            .isEqualTo("unreachable: asked %s by TCP: no connection within 1 s".formatted(address));
      }
    } finally {
      for (SocketChannel channel : queued) {
        channel.close();
      }
    }
  }

  @Test
  void requestWhoseListenerThrowsIsRefused() throws Exception {
    passive.broken.set(1);
    try (Handshake asking = carrier.connect(request(), active)) {
      assertThat(active.event()).isEqualTo("rejected 28");
      assertThat(asking.toString()).contains("ENDED");
    }
    assertServes();
  }

  @Test
  void callThatThrowsDoesNotEndThoseAfterIt() throws Exception {
    SerialCalls calls = new SerialCalls(true);
    CompletableFuture<String> next = new CompletableFuture<>();
    calls.add(
        () -> {
          throw new IllegalStateException("a handler that throws");
        });
    calls.add(() -> next.complete("called"));
    calls.release();
    assertThat(next.get(20, TimeUnit.SECONDS)).isEqualTo("called");
  }

  @Test
  void secondListenerOfAServiceIsRefused() {
    assertThatThrownBy(() -> carrier.listen(serviceId(), address, passive))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("EADDRINUSE");
  }

  @Test
  void closedListenerIsReason8AndKeepsConnections() throws Exception {
    try (Handshake asking = carrier.connect(request(), active);
        Handshake asked = passive.next()) {
      registration.close();
      try (Handshake late = carrier.connect(request(), active)) {
        assertThat(active.event()).isEqualTo("rejected 8");
        assertThat(late.toString()).contains("ENDED");
      }
      asked.reply(reply());
      assertThat(active.event()).isEqualTo("replied");
      asking.confirm(PrivateData.EMPTY);
      assertThat(passive.event()).isEqualTo("established");
    }
  }

  @Test
  void activeEndThatDiesBeforeTheAnswer() throws Exception {
    Socket peer = socket(bytes(Bodies.of(request())));
    try (Handshake asked = passive.next()) {
      peer.close();
      assertThat(passive.event()).isEqualTo("rejected 4");
      assertThatThrownBy(() -> asked.reply(reply()))
          .hasMessageContaining("its passive end is ENDED");
    }
  }

  @Test
  void activeEndThatDiesBeforeItConfirms() throws Exception {
    Socket peer = socket(bytes(Bodies.of(request())));
    try (Handshake asked = passive.next()) {
      asked.reply(reply());
      peer.close();
      assertThat(passive.event()).isEqualTo("rejected 4");
    }
  }

  @Test
  void activeEndThatDiesConnected() throws Exception {
    Socket peer = socket(bytes(Bodies.of(request())));
    try (Handshake asked = passive.next()) {
      asked.reply(reply());
      peer.getOutputStream().write(bytes(Message.of(Message.Kind.READY, PrivateData.EMPTY)));
      assertThat(passive.event()).isEqualTo("established");
      peer.close();
      assertThat(passive.event()).isEqualTo("disconnected");
      asked.disconnect(PrivateData.EMPTY);
      assertThat(passive.event()).isEqualTo("timeWaitExited");
    }
  }

  @Test
  void activeEndThatNeverConfirmsIsUnreachable() throws Exception {
    try (Socket _ = socket(bytes(Bodies.of(request())));
        Handshake asked = passive.next()) {
      asked.reply(reply());
      assertThat(passive.event()).startsWith("unreachable: answered").contains("within 1 s");
    }
  }

  @Test
  void programThatNeverAnswersIsUnreachable() throws Exception {
    try (Handshake _ = carrier.connect(request(), active);
        Handshake _ = passive.next()) {
      assertThat(active.event())
          .startsWith("unreachable: asked " + address)
          .contains("no answer within 1 s");
      assertThat(passive.event()).isEqualTo("rejected 4");
    }
  }

  @Test
  void closeInEachStateTellsThePeer() throws Exception {
    try (Handshake asking = carrier.connect(request(), active)) {
      passive.next().close();
      assertThat(active.event()).isEqualTo("rejected 28");
      assertThat(asking.toString()).contains("ENDED");
    }
    try (Handshake _ = carrier.connect(request(), active)) {
      Handshake asked = passive.next();
      asked.reply(reply());
      assertThat(active.event()).isEqualTo("replied");
      asked.close();
      assertThat(active.event()).isEqualTo("rejected 28");
    }
    Handshake asking = carrier.connect(request(), active);
    try (Handshake asked = passive.next()) {
      asked.reply(reply());
      assertThat(active.event()).isEqualTo("replied");
      asking.confirm(PrivateData.EMPTY);
      assertThat(active.event()).isEqualTo("established");
      assertThat(passive.event()).isEqualTo("established");
      asking.close();
      assertThat(passive.event()).isEqualTo("disconnected");
    }
  }

  @Test
  void disconnectThatIsNotAnsweredEndsAtItsDeadline() throws Exception {
    try (Handshake asking = carrier.connect(request(), active);
        Handshake asked = passive.next()) {
      asked.reply(reply());
      assertThat(active.event()).isEqualTo("replied");
      asking.confirm(PrivateData.EMPTY);
      assertThat(active.event()).isEqualTo("established");
      asking.disconnect(PrivateData.EMPTY);
      assertThat(active.event()).isEqualTo("disconnected");
      assertThat(active.event()).isEqualTo("timeWaitExited");
      assertThat(passive.event()).isEqualTo("established");
      assertThat(passive.event()).isEqualTo("disconnected");
    }
  }
}
