package org.hghca.programs.perf.medium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.hghca.programs.peer.PeerException;
import org.junit.jupiter.api.Test;

class StreamMediumTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final CountDownLatch ended = new CountDownLatch(1);
  private final PipedInputStream toServer = new PipedInputStream();
  private final PipedInputStream toClient = new PipedInputStream();
  private final Medium server;
  private final Medium client;

  StreamMediumTest() throws IOException {
    // Both pipes are connected before one is read.
    PipedOutputStream ofServer = new PipedOutputStream(toClient);
    PipedOutputStream ofClient = new PipedOutputStream(toServer);
    server = new StreamMedium("the client", toServer, ofServer, LIMIT, ended::countDown);
    client = new StreamMedium("the server", toClient, ofClient, LIMIT, () -> {});
  }

  @Test
  void messagesAreReadAsBytesInTheirOrder() throws Exception {
    client.write(new byte[] {1, 2, 3});
    client.write(new byte[] {4, 5});
    assertThat(server.read("two bytes", 2)).containsExactly(1, 2);
    assertThat(server.read("the rest", 3)).containsExactly(3, 4, 5);
    server.write(new byte[] {6});
    assertThat(client.read("an answer", 1)).containsExactly(6);
  }

  @Test
  void endOfTheStreamIsTheEndOfTheConversation() throws Exception {
    client.write(new byte[] {1});
    client.close();
    assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(server.read("a byte", 1)).containsExactly(1);
    assertThatThrownBy(() -> server.read("its version", 8))
        .isInstanceOf(PeerException.class)
        .hasMessage("the client ended the conversation after 0 of the 8 bytes of its version");
  }

  @Test
  void peerThatTakesNoMoreIsNamed() throws Exception {
    client.close();
    assertThatThrownBy(() -> client.write(new byte[] {1}))
        .isInstanceOf(PeerException.class)
        .hasMessage("the server takes no more messages");
  }
}
