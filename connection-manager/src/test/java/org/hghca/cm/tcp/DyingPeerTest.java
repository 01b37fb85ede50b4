package org.hghca.cm.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.hghca.cm.carrier.ConnectReply;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Handshake;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.Requests;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevices;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A peer that dies before, within or after any of its messages: the events of the end that stays.
 */
@ParameterizedClass
@EnumSource(DyingPeerTest.Death.class)
class DyingPeerTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofMillis(200);
  private static final int REASON = 28;

  /** How its socket ends. */
  enum Death {
    END,
    RESET,
    /** Not at all: its host has gone. */
    SILENCE
  }

  private final Death death;
  private final Context context = RdmaDevices.open("model:tcp?cable=tcp&ip=10.0.0.1");
  private final TcpCarrier carrier;
  private final Recorder own = new Recorder();

  DyingPeerTest(Death death) {
    this.death = death;
    Duration limit = death == Death.SILENCE ? SHORT : SOON;
    carrier =
        new TcpCarrier(context, new Limits(SOON, limit, limit, limit, Duration.ofMillis(10), 64));
  }

  @AfterEach
  void close() {
    carrier.close();
    context.close();
  }

  private ConnectRequest request(InetSocketAddress to) {
    return Requests.of(
        0x0106_0000L | to.getPort(),
        new InetSocketAddress(to.getAddress(), 40000),
        to,
        Requests.loop(context),
        0x11,
        1);
  }

  private static ConnectReply reply(ConnectRequest to) {
    return Requests.reply(to.path(), 0x12, 1);
  }

  private static byte[] bytes(Message message) {
    ByteBuffer encoded = message.encoded();
    byte[] bytes = new byte[encoded.remaining()];
    encoded.get(bytes);
    return bytes;
  }

  private static byte[] message(Message.Kind kind, ConnectRequest request) {
    return bytes(
        switch (kind) {
          case REQUEST -> Bodies.of(request);
          case REPLY -> Bodies.of(reply(request));
          case REJECT -> Message.reject(REASON, PrivateData.EMPTY);
          case READY, DISCONNECT -> Message.of(kind, PrivateData.EMPTY);
          case SERVICE_REQUEST, SERVICE_REPLY -> throw new AssertionError(kind);
        });
  }

  private static void write(Socket socket, byte[] bytes) throws IOException {
    write(socket, bytes, bytes.length);
  }

  private static void write(Socket socket, byte[] bytes, int count) throws IOException {
    socket.getOutputStream().write(bytes, 0, count);
  }

  private void die(Socket socket) throws IOException {
    switch (death) {
      case END -> socket.shutdownOutput(); // close() resets where something is unread
      case RESET -> {
        socket.setSoLinger(true, 0);
        socket.close();
      }
      case SILENCE -> {}
    }
  }

  /** The bytes of a message before the death: any number, but few where a time limit runs out. */
  private IntStream cuts(byte[] message) {
    return death == Death.SILENCE
        ? IntStream.of(0, Message.HEADER, message.length - 1, message.length)
        : IntStream.rangeClosed(0, message.length);
  }

  /** Takes events as a program that has enough of a silent peer, and answers a disconnect. */
  private void assertEvents(Handshake handshake, String expected) throws InterruptedException {
    List<String> all = Arrays.asList(expected.split(", "));
    List<String> events = new ArrayList<>();
    while (events.size() < all.size()) {
      String event = own.event();
      events.add(event.startsWith("unreachable") ? "unreachable" : event);
      switch (event) {
        case "replied" -> {
          if (death == Death.SILENCE) {
            handshake.confirm(PrivateData.EMPTY);
          }
        }
        case "established" -> {
          if (death == Death.SILENCE) {
            handshake.disconnect(PrivateData.EMPTY);
          }
        }
        case "disconnected" -> {
          if (handshake.toString().endsWith("LEFT_BY_PEER")) {
            handshake.disconnect(PrivateData.EMPTY);
          }
        }
        default -> {}
      }
    }
    assertThat(events).isEqualTo(all);
    handshake.close();
  }

  private void awaitSize(int size) {
    while (carrier.size() != size) {
      Thread.onSpinWait();
    }
  }

  private static InetSocketAddress freePort() throws IOException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return (InetSocketAddress) free.getLocalSocketAddress();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"REQUEST", "READY", "REJECT", "DISCONNECT"})
  void activePeer(Message.Kind dying) throws Exception {
    ConnectRequest request = request(freePort());
    try (var _ = carrier.listen(request.serviceId(), request.remote(), own)) {
      for (int cut : cuts(message(dying, request)).toArray()) {
        try (Socket peer = new Socket(request.remote().getAddress(), request.remote().getPort())) {
          activePeer(request, peer, dying, cut);
          awaitSize(1); // the listening socket
        }
      }
    }
    awaitSize(0);
  }

  private void activePeer(ConnectRequest request, Socket peer, Message.Kind dying, int cut)
      throws Exception {
    byte[] last = message(dying, request);
    boolean whole = cut == last.length;
    if (dying == Message.Kind.REQUEST) {
      write(peer, last, cut);
      die(peer);
      if (whole) {
        Handshake handshake = own.next();
        if (death == Death.SILENCE) {
          handshake.reply(reply(request));
        }
        assertEvents(handshake, unconfirmed());
      }
      return;
    }
    write(peer, message(Message.Kind.REQUEST, request));
    Handshake handshake = own.next();
    handshake.reply(reply(request));
    if (dying == Message.Kind.DISCONNECT) {
      write(peer, message(Message.Kind.READY, request));
      assertThat(own.event()).isEqualTo("established");
    }
    write(peer, last, cut);
    die(peer);
    if (dying == Message.Kind.DISCONNECT && !whole && death == Death.SILENCE) {
      handshake.disconnect(PrivateData.EMPTY);
    }
    assertEvents(
        handshake,
        switch (dying) {
          case READY -> whole ? "established, disconnected, timeWaitExited" : unconfirmed();
          case REJECT -> whole ? "rejected 28" : unconfirmed();
          default -> "disconnected, timeWaitExited";
        });
  }

  /** What an answer that is not confirmed ends with. */
  private String unconfirmed() {
    return death == Death.SILENCE ? "unreachable" : "rejected 4";
  }

  @ParameterizedTest
  @EnumSource(names = {"REPLY", "REJECT", "DISCONNECT"})
  void passivePeer(Message.Kind dying) throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      ConnectRequest request = request((InetSocketAddress) server.getLocalSocketAddress());
      for (int cut : cuts(message(dying, request)).toArray()) {
        Handshake handshake = carrier.connect(request, own);
        try (Socket peer = server.accept()) {
          passivePeer(request, handshake, peer, dying, cut);
          awaitSize(0);
        }
      }
    }
  }

  private void passivePeer(
      ConnectRequest request, Handshake handshake, Socket peer, Message.Kind dying, int cut)
      throws Exception {
    byte[] last = message(dying, request);
    boolean whole = cut == last.length;
    peer.getInputStream().readNBytes(message(Message.Kind.REQUEST, request).length);
    if (dying == Message.Kind.DISCONNECT) {
      write(peer, message(Message.Kind.REPLY, request));
      assertThat(own.event()).isEqualTo("replied");
      handshake.confirm(PrivateData.EMPTY);
      assertThat(own.event()).isEqualTo("established");
    }
    write(peer, last, cut);
    die(peer);
    if (dying == Message.Kind.DISCONNECT && !whole && death == Death.SILENCE) {
      handshake.disconnect(PrivateData.EMPTY);
    }
    String confirmed =
        death == Death.SILENCE
            ? "replied, established, disconnected, timeWaitExited"
            : "replied, rejected 4";
    assertEvents(
        handshake,
        switch (dying) {
          case REPLY -> whole ? confirmed : "unreachable";
          case REJECT -> whole ? "rejected 28" : "unreachable";
          default -> "disconnected, timeWaitExited";
        });
  }
}
