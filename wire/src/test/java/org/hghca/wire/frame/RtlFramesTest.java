package org.hghca.wire.frame;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Frames of the makers' first RTL: those that two cards in simulation exchanged through the RTL's
 * own Ethernet stages, and frames bent from them.
 */
class RtlFramesTest {
  private static final String TO_SERVER = "02005d6e7174 0200b7e8ac16 0800";
  private static final String TO_CLIENT = "0200b7e8ac16 02005d6e7174 0800";
  private static final String SEND =
      TO_CLIENT
          + "450000680000000040117a860000000000000000 12b712b700544cbc"
          + "020000040200000000000081"
          + "53454e44206f7065726174696f6e"
          + "00".repeat(50);
  private static final String ACKNOWLEDGE =
      TO_SERVER
          + "4500002c0000000040117ac20000000000000000 12b712b70018553f"
          + "020080110200000000000000"
          + "01000000";
  private static final String READ =
      TO_SERVER
          + "450000380001000040117ab50000000000000000 12b712b70024bb4c"
          + "0200000c0200000000000080"
          + "f37f000000d0e30c0300000340000000";
  private static final String READ_RESPONSE =
      TO_CLIENT
          + "4500006c0001000040117a810000000000000000 12b712b70058bd7e"
          + "020080100200000000000001"
          + "01000000"
          + "52444d412072656164206f7065726174696f6e"
          + "00".repeat(45);
  private static final String WRITE =
      TO_SERVER
          + "450000780002000040117a740000000000000000 12b712b700642bf4"
          + "0200000a0200000001000081"
          + "f37f000000d0e30c0300000340000000"
          + "52444d41207772697465206f7065726174696f6e"
          + "00".repeat(44);

  /** From a queue pair whose context had no address. */
  private static final String DATAGRAM =
      "02005d6e7174 000000000000 0800"
          + "450000780003000040117a730000000000000000 12b712b7006464e2"
          + "030000640300000000000081"
          + "1111111103000000000074716e5d0002"
          + "646174616772616d3a2077686f2069732074686572653f"
          + "00".repeat(41);

  private final MemorySegment memory = Arena.ofAuto().allocate(FrameLayout.MAX_FRAME);
  private final PacketEncoder encoder = Encapsulation.FIRST_RTL.encoder(memory);
  private final Packet packet = Frames.packet();

  private void read(String frame) {
    assertThat(decode(HexFormat.of().parseHex(frame.replaceAll("\\s", "")))).isNull();
  }

  /** Returns why a frame was dropped, or null. */
  private DropCause decode(byte[] frame) {
    MemorySegment exact = Frames.memory(frame);
    PacketDecoder decoder = Encapsulation.FIRST_RTL.decoder(exact);
    return decoder.decode(0, frame.length, packet) ? null : decoder.cause();
  }

  private byte[] encoded() {
    int length = encoder.encode(packet, 0);
    return memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
  }

  private String payload() {
    byte[] bytes = new byte[packet.length];
    packet.payload().asByteBuffer().get(bytes);
    return new String(bytes, StandardCharsets.US_ASCII).trim();
  }

  static List<String> framesOfTheRtl() {
    return List.of(SEND, ACKNOWLEDGE, READ, READ_RESPONSE, WRITE, DATAGRAM);
  }

  @ParameterizedTest
  @MethodSource("framesOfTheRtl")
  void frameOfTheRtlIsWrittenAsItWasRead(String frame) {
    read(frame);
    for (int i = 0; i < packet.identification; i++) {
      encoder.encode(packet, 0); // the RTL counts its frames
    }
    assertThat(HexFormat.of().formatHex(encoded())).isEqualTo(frame.replaceAll("\\s", ""));
  }

  @Test
  void sendHasItsFields() {
    read(SEND);
    assertThat(packet.destinationMac).isEqualTo(0x0200_b7e8_ac16L);
    assertThat(packet.sourceMac).isEqualTo(0x0200_5d6e_7174L);
    assertThat(packet.opcode).isEqualTo(0x04);
    assertThat(packet.sourceQpn).isEqualTo(2);
    assertThat(packet.destinationQpn).isEqualTo(2);
    assertThat(packet.psn).isZero();
    assertThat(packet.ackRequest).isTrue();
    assertThat(packet.length).isEqualTo(64);
    assertThat(payload()).isEqualTo("SEND operation");
  }

  @Test
  void readAndItsResponseHaveTheirFields() {
    read(READ);
    assertThat(packet.opcode).isEqualTo(0x0c);
    assertThat(packet.remoteAddress).isEqualTo(0x7ff3_0ce3_d000L);
    assertThat(packet.remoteKey).isEqualTo(0x0300_0003);
    assertThat(packet.dmaLength).isEqualTo(64);
    assertThat(packet.length).isZero();
    read(READ_RESPONSE);
    assertThat(packet.opcode).isEqualTo(0x10);
    assertThat(packet.ackRequest).isFalse();
    assertThat(packet.msn).isEqualTo(1);
    assertThat(payload()).isEqualTo("RDMA read operation");
  }

  @Test
  void datagramHasItsFields() {
    read(DATAGRAM);
    assertThat(packet.opcode).isEqualTo(0x64);
    assertThat(packet.queueKey).isEqualTo(0x1111_1111);
    assertThat(packet.sourceQpn).isEqualTo(3);
    assertThat(packet.destinationQpn).isEqualTo(3);
    assertThat(payload()).isEqualTo("datagram: who is there?");
  }

  @ParameterizedTest
  @CsvSource({
    "0x04, 1", "0x04, 5", "0x00, 4096", "0x01, 256", "0x02, 63", "0x03, 64", "0x06, 2048",
    "0x09, 65", "0x0b, 7", "0x0d, 1024", "0x0e, 1024", "0x0f, 3", "0x24, 100", "0x2b, 9",
    "0x64, 1023"
  })
  void packetIsReadAsItWasWritten(String opcode, int length) {
    SplittableRandom random = new SplittableRandom(length);
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    packet.opcode = Integer.decode(opcode);
    packet.destinationMac = 0x0200_0000_0002L;
    packet.sourceMac = 0x0200_0000_0001L;
    packet.sourceIpv4(0x0a00_0001);
    packet.destinationIpv4(0x0a00_0002);
    packet.sourceQpn = 0x1234;
    packet.destinationQpn = 0x23_4567;
    packet.psn = 0xff_fffe;
    packet.remoteAddress = 0x1234_5678_9abc_def0L;
    packet.remoteKey = 0x89ab_cdef;
    packet.dmaLength = 0x7fff_ffff;
    packet.immediate = 0xdead_beef;
    packet.syndrome = 0x62;
    packet.msn = 0x12_3456;
    packet.queueKey = 0x8001_0000;
    Frames.payload(packet, bytes);
    byte[] first = encoded();
    Packet copy = Frames.packet();
    PacketDecoder decoder = Encapsulation.FIRST_RTL.decoder(Frames.memory(first));
    assertThat(decoder.decode(0, first.length, copy)).isTrue();
    assertThat(Encapsulation.FIRST_RTL.encoder(memory).encode(copy, 0)).isEqualTo(first.length);
    assertThat(memory.asSlice(0, first.length).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(first);
    assertThat(copy.length).isEqualTo(length);
  }

  @Test
  void everyBitBehindEthernetIsProtected() {
    byte[] frame = HexFormat.of().parseHex(WRITE.replaceAll("\\s", ""));
    for (int bit = 14 * 8; bit < frame.length * 8; bit++) {
      byte[] bent = frame.clone();
      bent[bit / 8] ^= (byte) (1 << bit % 8);
      assertThat(decode(bent)).as("bit %d", bit).isNotNull();
    }
  }

  @Test
  void shortFramesAreDropped() {
    byte[] frame = HexFormat.of().parseHex(WRITE.replaceAll("\\s", ""));
    for (int length = 0; length < frame.length; length++) {
      assertThat(decode(Arrays.copyOf(frame, length))).as("%d bytes", length).isNotNull();
    }
    assertThat(decode(Arrays.copyOf(frame, frame.length + 20))).as("padded").isNull();
  }

  @Test
  void frameWithoutAChecksumOfUdpIsDropped() {
    byte[] frame = HexFormat.of().parseHex(SEND.replaceAll("\\s", ""));
    frame[40] = 0;
    frame[41] = 0;
    assertThat(decode(frame)).isEqualTo(DropCause.UDP_CHECKSUM);
  }

  @Test
  void checksumOfUdpIsNeverZero() {
    packet.opcode = 0x04;
    for (int i = 0; i < 1 << 16; i++) {
      Frames.payload(packet, new byte[] {(byte) (i >> 8), (byte) i});
      byte[] frame = encoded();
      assertThat(frame[40] | frame[41]).as("payload %04x", i).isNotZero();
      if (frame[40] == -1 && frame[41] == -1) {
        assertThat(decode(frame)).isNull();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0x12, 0x13, 0x14, 0x16, 0x17, 0x65, 0x81, 0x40})
  void operationThatTheRtlLacksHasNoFrame(int opcode) {
    packet.opcode = opcode;
    assertThat(encoder.encode(packet, 0)).isZero();
  }
}
