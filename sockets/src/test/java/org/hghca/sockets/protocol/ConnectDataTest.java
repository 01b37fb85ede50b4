package org.hghca.sockets.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.HexFormat;
import org.hghca.verbs.RemoteMemory;
import org.junit.jupiter.api.Test;

class ConnectDataTest {
  /** Of an end with librdmacm's sizes: 384 credits, 2 entries, halves of 65536 bytes. */
  private static final String BYTES =
      "01020180"
          + "00000000"
          + "00007f0011223344"
          + "0000abcd"
          + "00000002"
          + "00007f0055660000"
          + "0000abce"
          + "00010000";

  private static final ConnectData DATA =
      new ConnectData(
          Framing.WRITES,
          false,
          384,
          new RemoteMemory(0x7f00_1122_3344L, 0xabcd, 2),
          new RemoteMemory(0x7f00_5566_0000L, 0xabce, 65536),
          0);

  private static byte[] bytes() {
    return HexFormat.of().parseHex(BYTES);
  }

  private static byte[] with(int at, int value) {
    byte[] bytes = bytes();
    bytes[at] = (byte) value;
    return bytes;
  }

  @Test
  void hasTheLayoutOfTheProtocol() {
    assertThat(DATA.toBytes()).isEqualTo(bytes());
  }

  @Test
  void isReadFromPaddedPrivateData() throws ForeignPeerException {
    assertThat(ConnectData.of(Arrays.copyOf(bytes(), 56), Framing.WRITES)).isEqualTo(DATA);
  }

  @Test
  void tellsTheByteOrderOfTheTable() throws ForeignPeerException {
    assertThat(ConnectData.of(with(1, 0x03), Framing.WRITES).bigEndian()).isTrue();
    assertThat(ConnectData.of(with(1, 0x00), Framing.WRITES).bigEndian()).isFalse();
  }

  @Test
  void tellsHowManyMappingsThereMayBe() throws ForeignPeerException {
    assertThat(ConnectData.of(with(7, 0x80), Framing.WRITES).mappings()).isEqualTo(128);
    assertThat(ConnectData.of(with(7, 0x81), Framing.WRITES).mappings()).isEqualTo(256);
    assertThat(ConnectData.of(with(7, 0xff), Framing.WRITES).mappings()).isEqualTo(32512);
    byte[] olderPeer = with(7, 1);
    olderPeer[1] = 0;
    assertThat(ConnectData.of(olderPeer, Framing.WRITES).mappings())
        .as("without the flag")
        .isZero();
  }

  @Test
  void refusesAnotherVersionByItsNumber() {
    assertThatThrownBy(() -> ConnectData.of(with(0, 2), Framing.WRITES))
        .isInstanceOf(ForeignPeerException.class)
        .hasMessageContaining("version 2")
        .hasMessageContaining("version 1");
  }

  @Test
  void refusesTheOtherFramingByItsName() {
    String differ = "the peer carries a stream by %s, and this end by %s: their devices differ";
    assertThatThrownBy(() -> ConnectData.of(with(0, 0x48), Framing.WRITES))
        .isInstanceOf(ForeignPeerException.class)
        .hasMessage(differ, "SEND", "RDMA WRITE with an immediate");
    assertThatThrownBy(() -> ConnectData.of(bytes(), Framing.MESSAGES))
        .isInstanceOf(ForeignPeerException.class)
        .hasMessage(differ, "RDMA WRITE with an immediate", "SEND");
    assertThatThrownBy(() -> ConnectData.of(shortSlot(), Framing.MESSAGES))
        .isInstanceOf(ForeignPeerException.class)
        .hasMessageContaining("4 bytes");
  }

  private static byte[] shortSlot() {
    byte[] bytes = with(0, 0x48);
    bytes[37] = 0;
    bytes[39] = 4;
    return bytes;
  }

  @Test
  void refusesWhatCannotBeAPeer() {
    assertThatThrownBy(() -> ConnectData.of(new byte[39], Framing.WRITES))
        .isInstanceOf(ForeignPeerException.class)
        .hasMessageContaining("39 bytes");
    assertThatThrownBy(() -> ConnectData.of(with(23, 32), Framing.WRITES))
        .isInstanceOf(ForeignPeerException.class)
        .hasMessageContaining("32 entries");
    assertThatThrownBy(() -> ConnectData.of(with(37, 0), Framing.WRITES))
        .isInstanceOf(ForeignPeerException.class)
        .hasMessageContaining("0 bytes");
    byte[] creditless = with(2, 0);
    creditless[3] = 0;
    assertThatThrownBy(() -> ConnectData.of(creditless, Framing.WRITES))
        .isInstanceOf(ForeignPeerException.class)
        .hasMessageContaining("0 credits");
  }
}
