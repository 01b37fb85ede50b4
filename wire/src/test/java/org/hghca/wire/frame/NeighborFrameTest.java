package org.hghca.wire.frame;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Frames of neighbor discovery against the bytes that scapy 2.5 writes. */
final class NeighborFrameTest {
  private static final long OWN_MAC = 0x0200_0000_0001L;
  private static final long PEER_MAC = 0x5254_0012_3456L;
  private static final long PREFIX = 0xfd00_0000_0000_0000L;
  private static final long OWN = 0x000a_0001L;
  private static final long PEER = 0x0012_3456L;

  private static final String SOLICITATION =
      "3333ff123456"
          + "020000000001"
          + "86dd"
          + "6000000000203aff"
          + "fd0000000000000000000000000a0001"
          + "ff0200000000000000000001ff123456"
          + "870014c1"
          + "00000000"
          + "fd000000000000000000000000123456"
          + "0101020000000001";
  private static final String ADVERTISEMENT =
      "525400123456"
          + "020000000001"
          + "86dd"
          + "6000000000203aff"
          + "fd0000000000000000000000000a0001"
          + "fd000000000000000000000000123456"
          + "8800e821"
          + "60000000"
          + "fd0000000000000000000000000a0001"
          + "0201020000000001";
  private static final String ADVERTISEMENT_TO_ALL =
      "333300000001"
          + "020000000001"
          + "86dd"
          + "6000000000203aff"
          + "fd0000000000000000000000000a0001"
          + "ff020000000000000000000000000001"
          + "88005a87"
          + "20000000"
          + "fd0000000000000000000000000a0001"
          + "0201020000000001";

  /** Duplicate address detection of Linux: from ::, with a nonce, without a MAC. */
  private static final String PROBE =
      "3333ff0a0001"
          + "525400123456"
          + "86dd"
          + "6000000000203aff"
          + "00000000000000000000000000000000"
          + "ff0200000000000000000001ff0a0001"
          + "8700667c"
          + "00000000"
          + "fd0000000000000000000000000a0001"
          + "0e01010203040506";

  private final MemorySegment memory = Arena.ofAuto().allocate(128, 8);

  private void put(String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, 4, bytes.length);
  }

  private String written() {
    assertThat(memory.get(ValueLayout.JAVA_BYTE, 3)).isEqualTo((byte) 0x55);
    assertThat(memory.get(ValueLayout.JAVA_BYTE, 4 + NeighborFrame.SIZE)).isEqualTo((byte) 0x55);
    byte[] bytes = memory.asSlice(4, NeighborFrame.SIZE).toArray(ValueLayout.JAVA_BYTE);
    return HexFormat.of().formatHex(bytes);
  }

  private boolean isNeighbor(String hex) {
    memory.fill((byte) 0);
    put(hex);
    return NeighborFrame.isNeighbor(memory, 4, hex.length() / 2);
  }

  @Test
  void solicitationGoesToTheGroupOfTheTarget() {
    memory.fill((byte) 0x55);
    NeighborFrame.writeSolicitation(memory, 4, OWN_MAC, PREFIX, OWN, PREFIX, PEER);
    assertThat(written()).isEqualTo(SOLICITATION);
  }

  @Test
  void advertisementGoesToTheSolicitor() {
    memory.fill((byte) 0x55);
    NeighborFrame.writeAdvertisement(memory, 4, OWN_MAC, PREFIX, OWN, PEER_MAC, PREFIX, PEER);
    assertThat(written()).isEqualTo(ADVERTISEMENT);
  }

  @Test
  void solicitorWithoutAnAddressIsAnsweredByMulticast() {
    memory.fill((byte) 0x55);
    NeighborFrame.writeAdvertisement(memory, 4, OWN_MAC, PREFIX, OWN, PEER_MAC, 0, 0);
    assertThat(written()).isEqualTo(ADVERTISEMENT_TO_ALL);
  }

  @Test
  void framesAreRead() {
    assertThat(isNeighbor(SOLICITATION)).isTrue();
    assertThat(NeighborFrame.isSolicitation(memory, 4)).isTrue();
    assertThat(NeighborFrame.senderHigh(memory, 4)).isEqualTo(PREFIX);
    assertThat(NeighborFrame.senderLow(memory, 4)).isEqualTo(OWN);
    assertThat(NeighborFrame.targetHigh(memory, 4)).isEqualTo(PREFIX);
    assertThat(NeighborFrame.targetLow(memory, 4)).isEqualTo(PEER);
    assertThat(NeighborFrame.mac(memory, 4)).isEqualTo(OWN_MAC);
    assertThat(NeighborFrame.frameMac(memory, 4)).isEqualTo(OWN_MAC);
    assertThat(isNeighbor(ADVERTISEMENT)).isTrue();
    assertThat(NeighborFrame.isSolicitation(memory, 4)).isFalse();
    assertThat(NeighborFrame.overrides(memory, 4)).isTrue();
    assertThat(NeighborFrame.targetLow(memory, 4)).isEqualTo(OWN);
    assertThat(NeighborFrame.mac(memory, 4)).isEqualTo(OWN_MAC);
    assertThat(isNeighbor(ADVERTISEMENT_TO_ALL)).isTrue();
  }

  @Test
  void probeHasNoMac() {
    assertThat(isNeighbor(PROBE)).isTrue();
    assertThat(NeighborFrame.senderHigh(memory, 4) | NeighborFrame.senderLow(memory, 4)).isZero();
    assertThat(NeighborFrame.mac(memory, 4)).isZero();
    assertThat(NeighborFrame.frameMac(memory, 4)).isEqualTo(PEER_MAC);
  }

  @Test
  void bytesBehindTheMessageAreIgnored() {
    assertThat(isNeighbor(SOLICITATION + "ff".repeat(20))).isTrue();
  }

  /** One byte is replaced; the checksum is that of the new bytes where the last column has one. */
  @ParameterizedTest
  @CsvSource({
    "type of Ethernet, 12, 08, ",
    "version, 14, 40, ",
    "payload length not of whole options, 19, 1f, ",
    "payload length beyond the frame, 19, 28, ",
    "next header, 20, 11, ",
    "hop limit: it was routed, 21, fe, ",
    "checksum, 56, 15, ",
    "an address, 37, 02, ",
    "the target, 77, 57, ",
    "the option, 79, 02, ",
    "type 133, 54, 85, 16c1",
    "code 1, 55, 01, 14c0",
    "a group as target, 62, ff, 12c1",
    "an option of no size, 79, 00, 14c2",
    "an option beyond the end, 79, 02, 14c0"
  })
  void invalidFramesAreRefused(String what, int at, String value, String checksum) {
    String bent = SOLICITATION.substring(0, 2 * at) + value + SOLICITATION.substring(2 * at + 2);
    if (checksum != null) {
      bent = bent.substring(0, 112) + checksum + bent.substring(116);
      assertThat(isSumRight(bent)).as("the test's own checksum").isTrue();
    }
    assertThat(isNeighbor(bent)).as(what).isFalse();
  }

  private static boolean isSumRight(String frame) {
    byte[] bytes = HexFormat.of().parseHex(frame);
    int sum = 32 + 58;
    for (int i = 22; i < 86; i += 2) {
      sum += (bytes[i] & 0xff) << 8 | bytes[i + 1] & 0xff;
    }
    return (sum & 0xffff) + (sum >>> 16) == 0xffff;
  }

  @Test
  void everyShorterFrameIsRefused() {
    put(SOLICITATION);
    for (int length = 0; length < NeighborFrame.SIZE; length++) {
      assertThat(NeighborFrame.isNeighbor(memory, 4, length)).as("%d bytes", length).isFalse();
    }
  }
}
