package org.hghca.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.hghca.sockets.protocol.MessageWord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a peer that sends messages can do when it breaks the rules: it loses its own stream. */
class MessageProtocolTest {
  private static final StreamOptions OPTIONS =
      new StreamOptions(8192, 8192, 16, 16, 64, false, 7200, 0);

  private TwoStreamDevices devices;
  private StreamListener listener;
  private MessagePeer peer;
  private ByteStream stream;
  private TwoStreamDevices.Pair other;

  @BeforeEach
  void open() throws Exception {
    devices = Card.R1.open();
    listener = devices.listen(OPTIONS, 8);
    peer = new MessagePeer(devices.another());
    peer.connect(listener.localAddress());
    stream = TwoStreamDevices.accept(listener);
    other =
        new TwoStreamDevices.Pair(
            devices.connect(listener, OPTIONS), TwoStreamDevices.accept(listener));
  }

  @AfterEach
  void close() {
    stream.close();
    other.close();
    peer.close();
    listener.close();
    devices.close();
  }

  private void assertResetAndNoOther() throws IOException {
    Resets.assertReadsEnd(stream);
    assertOtherIsGood();
  }

  private void assertWritesAreReset() throws IOException {
    Resets.assertWritesEnd(stream);
    assertOtherIsGood();
  }

  private void assertOtherIsGood() throws IOException {
    new Transfer(4).begin(Thread.ofPlatform(), other.client(), other.server(), 50_000, 999).end();
  }

  @Test
  void aPeerOfTheRulesIsRead() throws IOException {
    peer.send(MessageWord.ofData(3), (byte) 1, (byte) 2, (byte) 3);
    peer.send(MessageWord.ofData(1), (byte) 4);
    ByteBuffer got = ByteBuffer.allocate(4);
    TwoStreamDevices.readFully(stream, got);
    assertThat(got.array()).containsExactly(1, 2, 3, 4);
  }

  /** Words of no bytes, of more and fewer than there are, and that do not exist. */
  @ParameterizedTest
  @CsvSource({
    "0x00000000, 0",
    "0x00000000, 4",
    "0x00000001, 0",
    "0x00000005, 4",
    "0x00000003, 4",
    "0x1fffffff, 4",
    "0x20000004, 4",
    "0x60000004, 4",
    "0xa0000004, 4"
  })
  void aWordAgainstTheRulesResetsItsStreamAndNoOther(String word, int bytes) throws IOException {
    peer.send(Integer.parseUnsignedInt(word.substring(2), 16), new byte[bytes]);
    assertResetAndNoOther();
  }

  @Test
  void aMessageShorterThanAWordResetsItsStreamAndNoOther() throws IOException {
    peer.sendBytes((byte) 1, (byte) 2);
    assertResetAndNoOther();
  }

  @Test
  void moreMessagesThanWereGrantedResetItsStreamAndNoOther() throws IOException {
    for (int i = 0; i < 18; i++) { // as many receives as there are, but two
      peer.send(MessageWord.ofData(1), (byte) i);
    }
    assertWritesAreReset(); // nothing is read meanwhile
  }

  /** Credits for 65535 messages: the peer has receives for 64. */
  @Test
  void aPeerThatGrantsMoreThanItHasHarmsItself() throws IOException {
    peer.send(MessageWord.ofGrant(0xffff));
    assertWritesAreReset();
  }
}
