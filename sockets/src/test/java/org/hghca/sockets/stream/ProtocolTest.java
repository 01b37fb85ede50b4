package org.hghca.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import org.hghca.cm.CmEventType;
import org.hghca.sockets.protocol.ConnectData;
import org.hghca.sockets.protocol.MessageWord;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a stream says and understands on the wire, and what a peer that breaks the rules can do. */
class ProtocolTest {
  private static final StreamOptions OPTIONS =
      new StreamOptions(8192, 8192, 16, 16, 64, false, 7200, 0);
  private static final int GARBAGE = 0x1234_5678;

  private TwoStreamDevices devices;
  private StreamListener listener;
  private RawPeer peer;

  @BeforeEach
  void open() throws IOException {
    devices = TwoStreamDevices.onHub("");
    listener = devices.listen(OPTIONS, 8);
    peer = new RawPeer(devices.another());
  }

  @AfterEach
  void close() {
    peer.close();
    listener.close();
    devices.close();
  }

  private ByteStream connect(boolean bigEndian) throws Exception {
    byte[] data = peer.data(bigEndian).toBytes();
    assertThat(peer.connect(listener.localAddress(), data).type())
        .isEqualTo(CmEventType.ESTABLISHED);
    return TwoStreamDevices.accept(listener);
  }

  private static byte[] read(ByteStream stream, int length) throws IOException {
    ByteBuffer got = ByteBuffer.allocate(length);
    TwoStreamDevices.readFully(stream, got);
    byte[] bytes = new byte[got.position()];
    got.flip().get(bytes);
    return bytes;
  }

  private static void assertReset(ByteStream stream) {
    assertThatThrownBy(() -> read(stream, 1))
        .isInstanceOf(SocketException.class)
        .hasMessage("Connection reset");
    assertThatThrownBy(() -> stream.write(ByteBuffer.allocate(1)))
        .isInstanceOf(SocketException.class)
        .hasMessage("Connection reset");
  }

  // What it says.

  @Test
  void tellsOfItsMemoryInThePrivateData() throws Exception {
    try (ByteStream _ = connect(false)) {
      ConnectData said = peer.other();
      assertThat(said.credits()).isEqualTo(16);
      assertThat(said.table().length()).as("entries").isEqualTo(2);
      assertThat(said.half().length()).isEqualTo(4096);
      assertThat(said.bigEndian()).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void grantsItsSecondHalfAtOnceInTheByteOrderOfThePeer(boolean bigEndian) throws Exception {
    ByteOrder order = bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    try (ByteStream _ = connect(bigEndian)) {
      assertThat(peer.word()).isEqualTo(0x8000_0010);
      assertThat(peer.tableAddress(1, order)).isEqualTo(peer.other().half().address() + 4096);
      assertThat(peer.tableKey(1, order)).isEqualTo(peer.other().half().rkey());
      assertThat(peer.tableLength(1, order)).isEqualTo(4096);
      assertThat(peer.tableLength(0, order)).isZero();
    }
  }

  @Test
  void grantsAHalfWhenItWasReadInTheFirstEntryAndTheSecondInTurn() throws Exception {
    try (ByteStream stream = connect(false)) {
      peer.word();
      peer.writeData(0, new byte[4096]);
      read(stream, 4096);
      assertThat(peer.word()).as("limit of 1 + 16 messages").isEqualTo(0x8000_0011);
      assertThat(peer.tableAddress(0, ByteOrder.LITTLE_ENDIAN))
          .isEqualTo(peer.other().half().address());
      peer.writeData(4096, new byte[4096]);
      read(stream, 4096);
      assertThat(peer.word()).isEqualTo(0x8000_0012);
    }
  }

  @Test
  void grantsMessagesWhenHalfOfThemWereReadWithoutAnEntry() throws Exception {
    try (ByteStream stream = connect(false)) {
      peer.word();
      for (int i = 0; i < 8; i++) {
        peer.writeData(i, (byte) i);
      }
      assertThat(read(stream, 8)).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
      assertThat(peer.word()).isEqualTo(0x8000_0018);
      assertThat(peer.tableLength(0, ByteOrder.LITTLE_ENDIAN)).isZero();
    }
  }

  @Test
  void fillsAHalfExactlyAndWaitsForTheOther() throws Exception {
    try (ByteStream stream = connect(false)) {
      peer.word();
      ByteBuffer source = ByteBuffer.allocate(2 * RawPeer.HALF);
      for (int i = 0; i < source.capacity(); i++) {
        source.put(i, Transfer.at(i));
      }
      int total = 0;
      for (int half = 0; half < 2; half++) {
        TwoStreamDevices.writeFully(stream, source.slice(half * RawPeer.HALF, RawPeer.HALF));
        while (total < (half + 1) * RawPeer.HALF) {
          int word = peer.word();
          assertThat(MessageWord.op(word)).isEqualTo(MessageWord.DATA);
          assertThat(word).isPositive();
          total += word;
        }
        assertThat(total).isEqualTo((half + 1) * RawPeer.HALF);
        assertThat(stream.write(ByteBuffer.allocate(1))).as("no half is free").isZero();
        // as the C library: its halves by entries 1 and 0, whatever key the word itself has
        peer.fillEntry(half == 0 ? RawPeer.HALF : 0);
        peer.write(
            peer.other().table().address() + (half == 0 ? 16 : 0),
            peer.other().table().rkey(),
            16,
            MessageWord.ofGrant(64 + total));
        assertThat(stream.await(SelectionKey.OP_WRITE, TwoStreamDevices.deadline())).isTrue();
      }
      for (int i = 0; i < total; i++) {
        assertThat(peer.received(i)).as("byte %d", i).isEqualTo(Transfer.at(i));
      }
    }
  }

  @Test
  void closeSaysDisconnect() throws Exception {
    ByteStream stream = connect(false);
    peer.word();
    stream.close();
    assertThat(peer.word()).isEqualTo(0xe000_0000);
  }

  @Test
  void shutdownSaysShutdownAndCloseAfterItDisconnect() throws Exception {
    ByteStream stream = connect(false);
    peer.word();
    stream.shutdownOutput();
    assertThat(peer.word()).isEqualTo(0xe000_0002);
    stream.close();
    assertThat(peer.word()).isEqualTo(0xe000_0000);
  }

  @Test
  void theSecondShutdownSaysDisconnect() throws Exception {
    try (ByteStream stream = connect(false)) {
      peer.word();
      peer.write(0, GARBAGE, 0, MessageWord.ofControl(MessageWord.SHUTDOWN));
      assertThat(read(stream, 1)).isEmpty();
      stream.shutdownOutput();
      assertThat(peer.word()).isEqualTo(0xe000_0000);
    }
  }

  // What it understands.

  @Test
  void wordsWithoutBytesMayNameAnyMemory() throws Exception {
    try (ByteStream stream = connect(false)) {
      peer.write(0xdead_beef_dead_beefL, GARBAGE, 0, MessageWord.ofGrant(65));
      assertThat(peer.status()).isEqualTo(WcStatus.SUCCESS);
      peer.writePlain(0, 0, 0); // as a keep-alive of the C library
      assertThat(peer.status()).isEqualTo(WcStatus.SUCCESS);
      peer.writeData(0, (byte) 7);
      assertThat(read(stream, 1)).containsExactly(7);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0x4000_0005, 0xc000_0001, 0xe000_0001, 0xffff_ffff})
  void wordsWithoutAMeaningAreIgnored(int word) throws Exception {
    try (ByteStream stream = connect(false)) {
      peer.write(0, GARBAGE, 0, word);
      peer.writeData(0, (byte) 7);
      assertThat(read(stream, 1)).containsExactly(7);
    }
  }

  @Test
  void aPeerThatDisconnectsAndGoesIsAnOrderlyEnd() throws Exception {
    try (ByteStream stream = connect(false)) {
      peer.writeData(0, (byte) 1, (byte) 2);
      peer.write(0, GARBAGE, 0, MessageWord.ofControl(MessageWord.DISCONNECT));
      assertThat(peer.status()).isEqualTo(WcStatus.SUCCESS);
      assertThat(peer.status()).isEqualTo(WcStatus.SUCCESS);
      peer.toError();
      assertThat(read(stream, 3)).containsExactly(1, 2);
      assertThat(stream.read(ByteBuffer.allocate(1))).isEqualTo(-1);
      assertThatThrownBy(() -> stream.write(ByteBuffer.allocate(1))).hasMessage("Broken pipe");
    }
  }

  @Test
  void aPeerThatLeavesWithoutAWordResets() throws Exception {
    try (ByteStream stream = connect(false)) {
      peer.writeData(0, (byte) 1, (byte) 2);
      assertThat(peer.status()).isEqualTo(WcStatus.SUCCESS);
      peer.disconnect();
      assertThat(stream.await(SelectionKey.OP_READ, TwoStreamDevices.deadline())).isTrue();
      assertThat(read(stream, 2)).as("what came before").containsExactly(1, 2);
      assertReset(stream);
    }
  }

  @Test
  void aPeerThatIsGoneWithoutATraceIsFoundByKeepAlive() throws Exception {
    try (ByteStream stream = connect(false)) {
      peer.word();
      peer.toError();
      stream.keepAlive(true, 1);
      assertThat(stream.await(SelectionKey.OP_READ, TwoStreamDevices.deadline())).isTrue();
      assertReset(stream);
    }
  }

  // What it refuses.

  /** One that does not exist, and that of streams by messages. */
  @ParameterizedTest
  @ValueSource(bytes = {7, 0x48})
  void refusesAnotherVersion(byte version) throws Exception {
    byte[] data = peer.data(false).toBytes();
    data[0] = version;
    assertThat(peer.connect(listener.localAddress(), data).type()).isEqualTo(CmEventType.REJECTED);
    assertThat(listener.accept()).isNull();
  }

  @Test
  void refusesAPeerThatSaysNothing() throws Exception {
    assertThat(peer.connect(listener.localAddress(), new byte[0]).type())
        .isEqualTo(CmEventType.REJECTED);
  }

  /** 0 bytes, more than there are, over the end of a half, and words that do not exist. */
  @ParameterizedTest
  @ValueSource(ints = {0, 4097, 0x1fff_ffff, 0x2000_0001, 0x6000_0001, 0xa000_0001})
  void aWordAgainstTheRulesResetsItsStreamAndNoOther(int word) throws Exception {
    try (ByteStream stream = connect(false);
        TwoStreamDevices.Pair other =
            new TwoStreamDevices.Pair(
                devices.connect(listener, OPTIONS), TwoStreamDevices.accept(listener))) {
      peer.write(0, GARBAGE, 0, word);
      assertReset(stream);
      new Transfer(4).begin(Thread.ofPlatform(), other.client(), other.server(), 50_000, 999).end();
    }
  }

  @Test
  void aWriteBeyondItsMemoryResetsItsStreamAndNoOther() throws Exception {
    try (ByteStream stream = connect(false);
        TwoStreamDevices.Pair other =
            new TwoStreamDevices.Pair(
                devices.connect(listener, OPTIONS), TwoStreamDevices.accept(listener))) {
      peer.write(peer.other().half().address() + (1 << 20), peer.other().half().rkey(), 8, 8);
      assertThat(peer.status()).isNotEqualTo(WcStatus.SUCCESS);
      assertReset(stream);
      new Transfer(5).begin(Thread.ofPlatform(), other.client(), other.server(), 50_000, 999).end();
    }
  }

  /** Credits for 65535 messages, and halves in memory that is not the peer's to write. */
  @Test
  void grantsOfAllKindsHarmTheStreamOfWhoSendsThemAndNoOther() throws Exception {
    try (ByteStream stream = connect(false);
        TwoStreamDevices.Pair other =
            new TwoStreamDevices.Pair(
                devices.connect(listener, OPTIONS), TwoStreamDevices.accept(listener))) {
      peer.fill(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, -1, -1, -1, -1});
      for (int entry = 0; entry < 2; entry++) {
        peer.write(
            peer.other().table().address() + 16L * entry,
            peer.other().table().rkey(),
            16,
            MessageWord.ofGrant(0xffff));
      }
      Resets.assertWritesEnd(stream);
      new Transfer(7).begin(Thread.ofPlatform(), other.client(), other.server(), 50_000, 999).end();
    }
  }

  /** Its own ring is all that a peer can write into: no other stream's bytes change. */
  @Test
  void aPeerThatOverwritesAllItCanReachHarmsItself() throws Exception {
    try (ByteStream stream = connect(false)) {
      peer.word();
      peer.fill(new byte[8192 + 64]);
      peer.write(peer.other().half().address(), peer.other().half().rkey(), 8192 + 64, 0x4000_0000);
      assertThat(peer.status()).isEqualTo(WcStatus.SUCCESS);
      peer.write(0, GARBAGE, 0, MessageWord.ofGrant(64));
      peer.writeData(0, (byte) 5);
      assertThat(read(stream, 1)).containsExactly(5);
    }
  }
}
