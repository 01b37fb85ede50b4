package org.hghca.tools.perf.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Pairs of sockets, and what is left of one that cannot be connected. */
class EndsTest {
  private final List<String> closed = new ArrayList<>();

  private Closeable socket(String name) {
    return () -> closed.add(name);
  }

  private static Closeable refuse() throws IOException {
    throw new IOException("refused");
  }

  @Test
  void closesTheClientWhenTheServerDoesNotAccept() {
    assertThatThrownBy(() -> Ends.open(() -> socket("client"), EndsTest::refuse, _ -> {}))
        .isInstanceOf(IOException.class)
        .hasMessage("refused");
    assertThat(closed).containsExactly("client");
  }

  @Test
  void closesBothWhenTheyCannotBeConnected() {
    assertThatThrownBy(
            () ->
                Ends.open(
                    () -> socket("client"),
                    () -> socket("server"),
                    _ -> {
                      throw new IOException("refused");
                    }))
        .hasMessage("refused");
    assertThat(closed).containsExactlyInAnyOrder("client", "server");
  }

  @Test
  void tcpCarriesBytesAndClosesBothEnds() throws Exception {
    Ends<SocketChannel> ends = Ends.tcp();
    try (ends) {
      assertThat(ends.client().write(ByteBuffer.wrap(new byte[] {7}))).isEqualTo(1);
      ByteBuffer read = ByteBuffer.allocate(1);
      assertThat(ends.server().read(read)).isEqualTo(1);
      assertThat(read.get(0)).isEqualTo((byte) 7);
    }
    assertThat(ends.client().isOpen()).isFalse();
    assertThat(ends.server().isOpen()).isFalse();
  }
}
