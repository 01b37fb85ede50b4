package org.hghca.programs.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One end against a plain socket. */
class SideChannelTest {
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Duration SHORT = Duration.ofMillis(100);

  private ServerSocket listener;
  private SideChannel channel;
  private Socket peer;

  @BeforeEach
  void connect() throws Exception {
    listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    channel = SideChannel.connect("127.0.0.1", listener.getLocalPort(), LONG);
    peer = listener.accept();
    peer.setTcpNoDelay(true);
  }

  @AfterEach
  void close() throws IOException {
    channel.close();
    peer.close();
    listener.close();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private void send(String text) throws IOException {
    peer.getOutputStream().write(ascii(text));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  @Test
  void messagesAreWholeHoweverTheyArrive() throws Exception {
    CompletableFuture<byte[]> read = new CompletableFuture<>();
    Thread reader =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    read.complete(channel.read("a name", 8));
                  } catch (InterruptedException | RuntimeException e) {
                    read.completeExceptionally(e);
                  }
                });
    send("abc");
    send("defghij");
    assertThat(read.get()).isEqualTo(ascii("abcdefgh"));
    reader.join();
    assertThat(channel.read("the rest", 2)).isEqualTo(ascii("ij"));
    channel.write(ascii("done\0"));
    assertThat(peer.getInputStream().readNBytes(5)).isEqualTo(ascii("done\0"));
  }

  @Test
  void silentPeerIsNamedAfterTheLimit() throws Exception {
    send("abc");
    channel.limit(SHORT);
    assertThatThrownBy(() -> channel.read("the address", 52))
        .isInstanceOf(PeerException.class)
        .hasMessage("%s sent 3 of the 52 bytes of the address in 100 ms", channel.peer());
  }

  @Test
  void peerThatLeavesIsNamed() throws Exception {
    send("abcd");
    peer.close();
    assertThatThrownBy(() -> channel.read("the address", 52))
        .isInstanceOf(PeerException.class)
        .hasMessage(
            "127.0.0.1:%d ended the connection after 4 of the 52 bytes of the address",
            listener.getLocalPort());
  }

  @Test
  void unexpectedMessageIsQuotedWithoutControlCharacters() {
    assertThat(channel.unexpected("'done'", ascii("ab\0\u001b[c")))
        .hasMessage("%s sent 'ab??[c' instead of 'done'", channel.peer());
    assertThat(channel.unexpected("'done'", new byte[100]).getMessage()).hasSizeLessThan(130);
  }

  @Test
  void noListenerOnThePort() throws Exception {
    int port = freePort();
    assertThatThrownBy(() -> SideChannel.connect("127.0.0.1", port, LONG))
        .isInstanceOf(PeerException.class)
        .hasMessageContaining("127.0.0.1:%d: Connection refused".formatted(port));
    assertThatThrownBy(() -> SideChannel.connect("no.such.host.invalid", port, LONG))
        .isInstanceOf(PeerException.class)
        .hasMessage("'no.such.host.invalid' is no address, and no host has that name");
  }

  @Test
  void usedPortIsNamed() {
    int port = listener.getLocalPort();
    assertThatThrownBy(() -> SideChannel.accept(port, LONG))
        .isInstanceOf(PeerException.class)
        .hasMessageContaining("port %d: Address already in use".formatted(port));
  }

  @Test
  void waitForClientEndsWithTheInterrupt() throws Exception {
    int port = freePort();
    CompletableFuture<Throwable> end = new CompletableFuture<>();
    Thread waiting =
        Thread.ofPlatform()
            .start(
                () -> {
                  try (SideChannel _ = SideChannel.accept(port, LONG)) {
                    end.complete(null);
                  } catch (InterruptedException | RuntimeException e) {
                    end.complete(e);
                  }
                });
    waiting.interrupt();
    assertThat(end.get(30, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
    waiting.join();
  }

  @Test
  void waitForMessageEndsWithTheInterrupt() {
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> channel.read("the address", 52))
        .isInstanceOf(InterruptedException.class);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }
}
