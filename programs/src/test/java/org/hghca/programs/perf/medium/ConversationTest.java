package org.hghca.programs.perf.medium;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Optional;
import org.hghca.programs.perf.PerfException;
import org.hghca.verbs.Gid;
import org.junit.jupiter.api.Test;

/** A peer of perftest, which says nothing about its options but by what it sends. */
class ConversationTest {
  private static final PeerAddress ADDRESS =
      new PeerAddress(0, 1, 0x11, 0, 0, 0, 0, Optional.of(Gid.ofIpv4(0x7f000001)));

  /** Sends one address always. */
  private record Peer(PeerAddress address) implements Medium {
    @Override
    public String peer() {
      return "peer";
    }

    @Override
    public void limit(Duration limit) {}

    @Override
    public void write(byte[] message) {}

    @Override
    public byte[] read(String what, int length) {
      throw new UnsupportedOperationException(what);
    }

    @Override
    public void writeAddress(PeerAddress own) {}

    @Override
    public PeerAddress readAddress() {
      return address;
    }

    @Override
    public void close() {}
  }

  @Test
  void peerThatWantsToBeConnectedByTheConnectionManagerIsNamed() {
    Conversation conversation = new Conversation(new Peer(PeerAddress.NONE), true);
    assertThatThrownBy(() -> conversation.exchange(ADDRESS))
        .isInstanceOf(PerfException.class)
        .hasMessage("the peer has -R: give it here, too");
  }

  @Test
  void peerThatConnectsByItselfIsNamed() {
    Conversation conversation = new Conversation(new Peer(ADDRESS), false);
    assertThatThrownBy(conversation::meetUnconnected)
        .isInstanceOf(PerfException.class)
        .hasMessage("the peer lacks -R, which is given here");
  }
}
