package org.hghca.wire.frame;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.zip.CRC32;
import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each reason to drop a frame, and deviations that are no reason. */
class FrameDropsTest {
  private static final int IP = 14;
  private static final int V4_UDP = IP + 20;
  private static final int V4_BTH = V4_UDP + 8;
  private static final int V6_UDP = IP + 40;

  private static final String V4 =
      "020000000002 020000000001 0800"
          + "4500003400004000401125e80a6300010a63000b c12312b700200000"
          + "0470ffff0000001180000100 68656c6c6f000000 d0e4ccfc";
  private static final String V6 =
      "020000000002 020000000001 86dd"
          + "6000000000201140fe80000000000000505400fffe123456fe80000000000000505400fffe654321"
          + "c12312b700200000 0470ffff0000001180000100 68656c6c6f000000 e776d784";

  private final Packet packet = Frames.packet();

  private static byte[] v4() {
    return HexFormat.of().parseHex(V4.replace(" ", ""));
  }

  private static byte[] v6() {
    return HexFormat.of().parseHex(V6.replace(" ", ""));
  }

  private void assertTaken(byte[] frame) {
    FrameDecoder decoder = new FrameDecoder(Frames.memory(frame));
    assertThat(decoder.decode(0, frame.length, packet)).as("%s", decoder.cause()).isTrue();
    assertThat(decoder.drops().total()).isZero();
  }

  private void assertDropped(byte[] frame, DropCause cause) {
    FrameDecoder decoder = new FrameDecoder(Frames.memory(frame));
    assertThat(decoder.decode(0, frame.length, packet)).isFalse();
    assertThat(decoder.cause()).isEqualTo(cause);
    assertThat(decoder.drops().byCause()).isEqualTo(Map.of(cause, 1L));
  }

  /** Writes numbers of 8 bits into a frame. */
  private static byte[] with(byte[] frame, int at, int... bytes) {
    for (int i = 0; i < bytes.length; i++) {
      frame[at + i] = (byte) bytes[i];
    }
    return frame;
  }

  /** Gives an IPv4 header its correct checksum. */
  private static byte[] summed(byte[] frame) {
    with(frame, IP + 10, 0, 0);
    int sum = 0;
    for (int at = IP; at < V4_UDP; at += 2) {
      sum += (frame[at] & 0xff) << 8 | frame[at + 1] & 0xff;
    }
    sum = (sum & 0xffff) + (sum >>> 16);
    return with(frame, IP + 10, ~sum >>> 8, ~sum);
  }

  /** Gives a frame with IPv4 its correct CRC. */
  private static byte[] signed(byte[] frame) {
    byte[] masked = new byte[8 + frame.length - IP - 4];
    Arrays.fill(masked, 0, 8, (byte) 0xff);
    System.arraycopy(frame, IP, masked, 8, frame.length - IP - 4);
    for (int at : new int[] {1, 8, 10, 11, 26, 27, 32}) {
      masked[8 + at] = (byte) 0xff;
    }
    CRC32 crc = new CRC32();
    crc.update(masked);
    MemorySegment.ofArray(frame).set(Bytes.CRC, frame.length - 4, (int) crc.getValue());
    return frame;
  }

  /** The frame with IPv4, its payload replaced, and lengths, checksum and CRC corrected. */
  private static byte[] carrying(int opcode, int padding, int behindBase) {
    byte[] frame = Arrays.copyOf(v4(), V4_BTH + 12 + behindBase + 4);
    with(frame, V4_BTH, opcode, 0x40 | padding << 4);
    int udp = frame.length - V4_UDP;
    with(frame, V4_UDP + 4, udp >>> 8, udp);
    with(frame, IP + 2, udp + 20 >>> 8, udp + 20);
    return signed(summed(frame));
  }

  @Test
  void validFramesAreAccepted() {
    assertTaken(v4());
    assertTaken(v6());
    assertTaken(carrying(0x04, 0, 8));
  }

  @Test
  void frameThatEndsWithinItsHeadersIsTruncated() {
    for (int length = 0; length < V4_UDP + 8; length++) {
      assertDropped(Arrays.copyOf(v4(), length), DropCause.TRUNCATED);
    }
    for (int length = 0; length < V6_UDP + 8; length++) {
      assertDropped(Arrays.copyOf(v6(), length), DropCause.TRUNCATED);
    }
    byte[] tagged = with(v4(), 12, 0x81, 0x00);
    for (int length = 0; length < 18; length++) {
      assertDropped(Arrays.copyOf(tagged, length), DropCause.TRUNCATED);
    }
  }

  @ParameterizedTest
  @CsvSource({"0x0806", "0x8915", "0x88a8", "0x0000"})
  void otherProtocolsThanIpAreOfAnotherType(String type) {
    int number = Integer.decode(type);
    assertDropped(with(v4(), 12, number >>> 8, number), DropCause.ETHER_TYPE);
  }

  @ParameterizedTest
  @CsvSource({"0x46", "0x44", "0x65", "0x00", "0x4f"})
  void ipv4HeaderOfAnotherVersionOrSizeIsDropped(String first) {
    assertDropped(summed(with(v4(), IP, Integer.decode(first))), DropCause.IP_HEADER);
  }

  @Test
  void ipv6HeaderOfAnotherVersionIsDropped() {
    assertDropped(with(v6(), IP, 0x45), DropCause.IP_HEADER);
  }

  @Test
  void ipv4HeaderWithAWrongChecksumIsDropped() {
    for (int bit = 0; bit < 16; bit++) {
      byte[] frame = v4();
      frame[IP + 10 + bit / 8] ^= (byte) (1 << bit % 8);
      assertDropped(frame, DropCause.IP_CHECKSUM);
    }
    assertDropped(with(v4(), IP + 8, 63), DropCause.IP_CHECKSUM); // the hop limit without it
  }

  @Test
  void ipLengthBeyondTheFrameOrWithinTheHeadersIsDropped() {
    assertDropped(summed(with(v4(), IP + 2, 0, 0x35)), DropCause.IP_LENGTH);
    assertDropped(summed(with(v4(), IP + 2, 0xff, 0xff)), DropCause.IP_LENGTH);
    assertDropped(summed(with(v4(), IP + 2, 0, 27)), DropCause.IP_LENGTH);
    assertDropped(summed(with(v4(), IP + 2, 0, 0)), DropCause.IP_LENGTH);
    assertDropped(with(v6(), IP + 4, 0, 0x21), DropCause.IP_LENGTH);
    assertDropped(with(v6(), IP + 4, 0, 7), DropCause.IP_LENGTH);
    assertDropped(Arrays.copyOf(v4(), v4().length - 1), DropCause.IP_LENGTH);
    assertDropped(Arrays.copyOf(v6(), v6().length - 1), DropCause.IP_LENGTH);
  }

  @ParameterizedTest
  @CsvSource({"0x2000", "0x6000", "0x0001", "0x1fff", "0x8000"})
  void fragmentIsDropped(String flags) {
    int number = Integer.decode(flags);
    assertDropped(summed(with(v4(), IP + 6, number >>> 8, number)), DropCause.IP_FRAGMENT);
  }

  @Test
  void packetThatMayBeFragmentedIsAccepted() {
    assertTaken(signed(summed(with(v4(), IP + 6, 0, 0))));
  }

  @Test
  void invalidAddressIsDropped() {
    assertDropped(summed(with(v4(), IP + 12, 0, 0, 0, 0)), DropCause.IP_ADDRESS);
    assertDropped(summed(with(v4(), IP + 16, 0, 0, 0, 0)), DropCause.IP_ADDRESS);
    int[] none = new int[16];
    int[] ipv4 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 99, 0, 1};
    for (int at : new int[] {IP + 8, IP + 24}) {
      assertDropped(with(v6(), at, none), DropCause.IP_ADDRESS);
      assertDropped(with(v6(), at, ipv4), DropCause.IP_ADDRESS);
    }
  }

  @Test
  void otherPacketsThanUdpToThePortAreNotRoce() {
    assertDropped(summed(with(v4(), IP + 9, 6)), DropCause.NOT_ROCE);
    assertDropped(with(v6(), IP + 6, 0), DropCause.NOT_ROCE); // hop-by-hop options
    assertDropped(with(v4(), V4_UDP + 3, 0xb8), DropCause.NOT_ROCE);
    assertDropped(with(v6(), V6_UDP + 2, 0), DropCause.NOT_ROCE);
  }

  @ParameterizedTest
  @CsvSource({"0x1f", "0x21", "0", "8", "0x1c"})
  void udpLengthThatDiffersFromTheIpLengthIsDropped(String length) {
    int number = Integer.decode(length);
    assertDropped(with(v4(), V4_UDP + 4, 0, number), DropCause.UDP_LENGTH);
    assertDropped(with(v6(), V6_UDP + 4, 0, number), DropCause.UDP_LENGTH);
  }

  @Test
  void otherTransportVersionIsDropped() {
    for (int version = 1; version < 16; version++) {
      assertDropped(signed(with(v4(), V4_BTH + 1, 0x70 | version)), DropCause.TRANSPORT_VERSION);
    }
  }

  @Test
  void unknownOpcodeIsDropped() {
    for (int opcode = 0; opcode < 256; opcode++) {
      int number = opcode;
      if (Arrays.stream(Frames.OPCODES).noneMatch(known -> known == number)) {
        assertDropped(signed(with(v4(), V4_BTH, opcode)), DropCause.OPCODE);
      }
    }
  }

  /** The headers of an opcode between the base transport header and the payload. */
  @ParameterizedTest
  @CsvSource({
    "0x03, 4", "0x05, 4", "0x06, 16", "0x0a, 16", "0x0b, 20", "0x0c, 16", "0x0d, 4", "0x0f, 4",
    "0x10, 4", "0x11, 4", "0x12, 12", "0x13, 28", "0x14, 28", "0x16, 4", "0x17, 4", "0x23, 4",
    "0x26, 16", "0x29, 4", "0x2b, 20", "0x64, 8", "0x65, 12", "0x81, 16"
  })
  void headersThatDoNotFitAreDropped(String opcode, int size) {
    int number = Integer.decode(opcode);
    assertTaken(carrying(number, 0, size));
    for (int left = 0; left < size; left++) {
      assertDropped(carrying(number, 0, left), DropCause.TRANSPORT_LENGTH);
    }
  }

  @ParameterizedTest
  @CsvSource({"0x0c, 16", "0x11, 4", "0x12, 12", "0x13, 28", "0x14, 28", "0x81, 16"})
  void payloadOfAnOpcodeWithoutOneIsDropped(String opcode, int size) {
    assertDropped(carrying(Integer.decode(opcode), 0, size + 4), DropCause.TRANSPORT_LENGTH);
  }

  @Test
  void transportShorterThanItsFirstHeaderIsDropped() {
    for (int length = 8; length < 8 + 12 + 4; length++) {
      byte[] frame = Arrays.copyOf(v4(), V4_UDP + length);
      with(frame, V4_UDP + 4, 0, length);
      with(frame, IP + 2, 0, length + 20);
      assertDropped(summed(frame), DropCause.TRANSPORT_LENGTH);
    }
  }

  @Test
  void payloadLongerThanTheLongestIsDropped() {
    assertTaken(carrying(0x04, 0, 4096));
    assertThat(packet.length).isEqualTo(4096);
    assertDropped(carrying(0x04, 0, 4100), DropCause.TRANSPORT_LENGTH);
  }

  @Test
  void paddingThatDoesNotFitIsDropped() {
    for (int odd = 1; odd < 4; odd++) {
      for (int padding = 0; padding < 4; padding++) {
        assertDropped(carrying(0x04, padding, 8 + odd), DropCause.PADDING);
      }
    }
    for (int padding = 1; padding < 4; padding++) {
      assertDropped(carrying(0x04, padding, 0), DropCause.PADDING);
      assertDropped(carrying(0x11, padding, 4), DropCause.PADDING);
      assertTaken(carrying(0x04, padding, 4));
      assertThat(packet.length).isEqualTo(4 - padding);
    }
  }

  /** Each bit from the ports on, except those that the network may change. */
  @Test
  void wrongCrcIsDropped() {
    for (int bit = 0; bit < 32; bit++) {
      byte[] frame = v4();
      frame[frame.length - 4 + bit / 8] ^= (byte) (1 << bit % 8);
      assertDropped(frame, DropCause.ICRC);
    }
    for (int at :
        new int[] {V4_UDP, V4_BTH + 2, V4_BTH + 5, V4_BTH + 8, V4_BTH + 11, V4_BTH + 17}) {
      byte[] frame = v4();
      frame[at] ^= 1;
      assertDropped(frame, DropCause.ICRC);
    }
    assertDropped(summed(with(v4(), IP + 4, 0, 1)), DropCause.ICRC); // identification
    assertDropped(summed(with(v4(), IP + 6, 0)), DropCause.ICRC); // don't fragment
    assertDropped(summed(with(v4(), IP + 15, 2)), DropCause.ICRC); // source
    assertDropped(with(v6(), IP + 8, 0xff), DropCause.ICRC);
  }

  /** The Ethernet minimum, and more. */
  @ParameterizedTest
  @CsvSource({"1", "2", "46", "1000"})
  void bytesBehindTheIpPacketAreIgnored(int more) {
    byte[] frame = Arrays.copyOf(v4(), v4().length + more);
    Arrays.fill(frame, v4().length, frame.length, (byte) 0xee);
    assertTaken(frame);
    assertThat(packet.length).isEqualTo(5);
    assertTaken(Arrays.copyOf(v6(), v6().length + more));
    assertThat(packet.length).isEqualTo(5);
  }

  @Test
  void permittedDeviationsOfPeersAreAccepted() {
    assertTaken(signed(with(v4(), V4_UDP, 0, 0))); // UDP source port of a card
    assertTaken(signed(with(v4(), V4_UDP, 0x12, 0xb7)));
    assertTaken(with(v4(), V4_UDP + 6, 0x12, 0x34)); // a UDP checksum
    assertTaken(signed(with(v4(), V4_BTH + 1, 0x30))); // not migrated
    assertTaken(with(v4(), V4_BTH + 4, 0x3f)); // reserved bits
    assertTaken(signed(with(v4(), V4_BTH + 8, 0xff)));
    assertTaken(signed(with(v4(), V4_BTH + 17, 1, 2, 3))); // padding that is not zero
    assertThat(packet.length).isEqualTo(5);
  }

  /** Only the frame is read, at any offset. */
  @Test
  void frameIsReadAtAnyOffset() {
    byte[] frame = v4();
    byte[] memory = new byte[frame.length + 100];
    Arrays.fill(memory, (byte) 0xff);
    System.arraycopy(frame, 0, memory, 33, frame.length);
    FrameDecoder decoder = new FrameDecoder(Frames.memory(memory));
    assertThat(decoder.decode(33, frame.length, packet)).isTrue();
    assertThat(packet.payload().get(ValueLayout.JAVA_BYTE, 4)).isEqualTo((byte) 'o');
    assertThat(decoder.decode(33, frame.length - 1, packet)).isFalse();
    assertThat(decoder.cause()).isEqualTo(DropCause.IP_LENGTH);
  }

  @Test
  void frameOutsideOfTheMemoryIsRefused() {
    FrameDecoder decoder = new FrameDecoder(Frames.memory(v4()));
    assertThatThrownBy(() -> decoder.decode(1, v4().length, packet))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> decoder.decode(-1, 10, packet))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> decoder.decode(0, -1, packet))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }
}
