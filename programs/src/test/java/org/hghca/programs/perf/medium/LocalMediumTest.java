package org.hghca.programs.perf.medium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.hghca.programs.peer.PeerException;
import org.hghca.verbs.Gid;
import org.junit.jupiter.api.Test;

class LocalMediumTest {
  private final List<Medium> ends = LocalMedium.pair(Duration.ofSeconds(20));
  private final Medium server = ends.getFirst();
  private final Medium client = ends.getLast();

  @Test
  void messagesAreReadAsBytesInTheirOrder() throws Exception {
    byte[] first = {1, 2, 3};
    client.write(first);
    first[0] = 9; // the message was copied
    client.write(new byte[] {4, 5});
    assertThat(server.read("two bytes", 2)).containsExactly(1, 2);
    assertThat(server.read("the rest", 3)).containsExactly(3, 4, 5);
    server.write(new byte[] {6});
    assertThat(client.read("an answer", 1)).containsExactly(6);
  }

  @Test
  void addressesKeepTheirFields() throws Exception {
    PeerAddress address =
        new PeerAddress(1, 2, 0xab_cdef, 0x12_3456, -2, -3L, 5, Optional.of(Gid.ofIpv4(7)));
    client.writeAddress(address);
    client.writeAddress(PeerAddress.NONE);
    assertThat(server.readAddress()).isEqualTo(address);
    assertThat(server.readAddress()).isEqualTo(PeerAddress.NONE);
  }

  @Test
  void endArrivesAfterWhatWasSent() throws Exception {
    client.write(new byte[] {1});
    client.close();
    assertThat(server.read("a byte", 1)).containsExactly(1);
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> server.read("its version", 8))
          .isInstanceOf(PeerException.class)
          .hasMessage(
              "the other side ended the conversation after 0 of the 8 bytes of its version");
    }
  }

  @Test
  void silenceIsAnError() throws Exception {
    server.limit(Duration.ofMillis(1));
    client.write(new byte[] {1});
    assertThatThrownBy(() -> server.read("its version", 8))
        .isInstanceOf(PeerException.class)
        .hasMessage("the other side sent 1 of the 8 bytes of its version in 1 ms");
  }
}
