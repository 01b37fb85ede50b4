package org.hghca.wire.frame;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.hghca.wire.Packet;
import org.junit.jupiter.api.Test;

/**
 * Frames of other implementations, and frames whose CRC others have computed, byte for byte: read,
 * and written again.
 */
class VectorsTest {
  private static final String ETHERNET = "020000000002 020000000001";
  private static final String IPV4 = ETHERNET + "0800";
  private static final String IPV6 = ETHERNET + "86dd";
  private static final long LINK_LOCAL = 0xfe80_0000_0000_0000L;

  private final Packet packet = Frames.packet();

  private void read(String frame) {
    var memory = Frames.memory(frame);
    assertThat(new FrameDecoder(memory).decode(0, (int) memory.byteSize(), packet)).isTrue();
  }

  private static void assertWrites(Packet packet, String frame) {
    assertThat(HexFormat.of().formatHex(Frames.encode(packet)))
        .isEqualTo(frame.replaceAll("\\s", ""));
  }

  private byte[] payload() {
    byte[] bytes = new byte[packet.length];
    packet.payload().asByteBuffer().get(bytes);
    return bytes;
  }

  /** Captured from a ConnectX-4 Lx. */
  @Test
  void congestionNotificationOfACard() {
    String frame =
        "e41d2dab2bc2 7cfe90643b32 0800"
            + "45c2003c718c4000401191610a0011010a001201 000012b700280000"
            + "8100ffff4000011800000000"
            + "00000000000000000000000000000000"
            + "82fd002a";
    read(frame);
    assertThat(packet.destinationMac).isEqualTo(0xe41d_2dab_2bc2L);
    assertThat(packet.sourceMac).isEqualTo(0x7cfe_9064_3b32L);
    assertThat(packet.vlan).isEqualTo(Packet.NO_VLAN);
    assertThat(packet.sourceIpv4()).isEqualTo(0x0a00_1101);
    assertThat(packet.destinationIpv4()).isEqualTo(0x0a00_1201);
    assertThat(packet.trafficClass).isEqualTo(0xc2);
    assertThat(packet.hopLimit).isEqualTo(64);
    assertThat(packet.identification).isEqualTo(0x718c);
    assertThat(packet.udpSourcePort).isZero();
    assertThat(packet.opcode).isEqualTo(0x81);
    assertThat(packet.backwardCongestion).isTrue();
    assertThat(packet.forwardCongestion).isFalse();
    assertThat(packet.migrated).isFalse();
    assertThat(packet.destinationQpn).isEqualTo(0x118);
    assertThat(packet.psn).isZero();
    assertThat(packet.length).isZero();
    assertWrites(packet, frame);
  }

  /** Public as well: an unreliable connection's SEND with a payload of 18 bytes and padding. */
  @Test
  void sendOfAnUnreliableConnection() {
    String frame =
        IPV4
            + "45010040047840004011b4d5c0a80007c0a80007"
            + "c00012b7002c0000 2460ffff000000d300cf1710"
            + "4630818be28935d90e9a95505401be885e500000"
            + "78f353f3";
    read(frame);
    assertThat(packet.opcode).isEqualTo(0x24);
    assertThat(packet.trafficClass).isEqualTo(1);
    assertThat(packet.identification).isEqualTo(1144);
    assertThat(packet.udpSourcePort).isEqualTo(49152);
    assertThat(packet.destinationQpn).isEqualTo(0xd3);
    assertThat(packet.psn).isEqualTo(0xcf1710);
    assertThat(packet.solicited).isFalse();
    assertThat(packet.migrated).isTrue();
    assertThat(packet.ackRequest).isFalse();
    assertThat(payload())
        .isEqualTo(HexFormat.of().parseHex("4630818be28935d90e9a95505401be885e50"));
    assertWrites(packet, frame);
  }

  private static final String HELLO = "0470ffff0000001180000100 68656c6c6f000000";

  private void assertHello() {
    assertThat(packet.opcode).isEqualTo(0x04);
    assertThat(packet.migrated).isTrue();
    assertThat(packet.partitionKey).isEqualTo(0xffff);
    assertThat(packet.destinationQpn).isEqualTo(0x11);
    assertThat(packet.ackRequest).isTrue();
    assertThat(packet.psn).isEqualTo(0x100);
    assertThat(payload()).isEqualTo("hello".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
  }

  @Test
  void sendOfAReliableConnection() {
    String frame =
        IPV4 + "4500003400004000401125e80a6300010a63000b c12312b700200000" + HELLO + "d0e4ccfc";
    read(frame);
    assertThat(packet.sourceIpv4()).isEqualTo(0x0a63_0001);
    assertThat(packet.destinationIpv4()).isEqualTo(0x0a63_000b);
    assertThat(packet.udpSourcePort).isEqualTo(0xc123);
    assertHello();
    assertWrites(packet, frame);
  }

  @Test
  void acknowledgement() {
    String frame =
        IPV4
            + "4500003012344000401113b80a63000b0a630001 c5a012b7001c0000"
            + "1100ffff0000012300000100 1f000001"
            + "236d98da";
    read(frame);
    assertThat(packet.identification).isEqualTo(0x1234);
    assertThat(packet.opcode).isEqualTo(0x11);
    assertThat(packet.syndrome).isEqualTo(0x1f);
    assertThat(packet.msn).isEqualTo(1);
    assertThat(packet.destinationQpn).isEqualTo(0x123);
    assertThat(packet.length).isZero();
    assertWrites(packet, frame);
  }

  @Test
  void sendOverIpv6() {
    String frame =
        IPV6
            + "6000000000201140fe80000000000000505400fffe123456fe80000000000000505400fffe654321"
            + "c12312b700200000"
            + HELLO
            + "e776d784";
    read(frame);
    assertThat(packet.sourceIpHigh).isEqualTo(LINK_LOCAL);
    assertThat(packet.sourceIpLow).isEqualTo(0x5054_00ff_fe12_3456L);
    assertThat(packet.destinationIpHigh).isEqualTo(LINK_LOCAL);
    assertThat(packet.destinationIpLow).isEqualTo(0x5054_00ff_fe65_4321L);
    assertThat(packet.trafficClass).isZero();
    assertThat(packet.flowLabel).isZero();
    assertThat(packet.hopLimit).isEqualTo(64);
    assertHello();
    assertWrites(packet, frame);
  }

  /** A request of the connection manager. */
  @Test
  void managementDatagram() {
    byte[] mad = new byte[256];
    put(mad, 0, "0107020300000000 0000000a11223344 0010 0000 00000000");
    put(mad, 24, "11223344");
    put(mad, 24 + 8, "0000000001061c06");
    put(mad, 24 + 16, "505400fffe123456");
    put(mad, 24 + 32, "00001101");
    put(mad, 24 + 39, "01");
    put(mad, 24 + 43, "a0123456a7ffff37f0ffffffff");
    put(mad, 24 + 66, "ffff0a630001");
    put(mad, 24 + 82, "ffff0a63000b307c6000");
    put(mad, 24 + 93, "40");
    put(mad, 24 + 95, "88");
    put(mad, 24 + 141, "409c40");
    put(mad, 24 + 156, "0a630001");
    put(mad, 24 + 172, "0a63000b");
    String frame =
        IPV4
            + "4500013400004000401124e80a6300010a63000b c12312b701200000"
            + "6440ffff0000000100000000 8001000000000001"
            + HexFormat.of().formatHex(mad)
            + "d68678bb";
    read(frame);
    assertThat(packet.opcode).isEqualTo(0x64);
    assertThat(packet.queueKey).isEqualTo(0x8001_0000);
    assertThat(packet.sourceQpn).isEqualTo(1);
    assertThat(packet.destinationQpn).isEqualTo(1);
    assertThat(payload()).isEqualTo(mad);
    assertWrites(packet, frame);
  }

  private static void put(byte[] bytes, int at, String hex) {
    byte[] part = HexFormat.of().parseHex(hex.replaceAll("\\s", ""));
    System.arraycopy(part, 0, bytes, at, part.length);
  }

  /** The tag is not part of the CRC, which stays the same. */
  @Test
  void sendInAVlan() {
    String frame =
        ETHERNET
            + "8100 6064 0800"
            + "4500003400004000401125e80a6300010a63000b c12312b700200000"
            + HELLO
            + "d0e4ccfc";
    read(frame);
    assertThat(packet.vlan).isEqualTo(3 << 13 | 100);
    assertHello();
    assertWrites(packet, frame);
  }

  @Test
  void newPacketHasTheFieldsOfMostPackets() {
    packet.sourceMac = 0x0200_0000_0001L;
    packet.destinationMac = 0x0200_0000_0002L;
    packet.sourceIpv4(0x0a63_0001);
    packet.destinationIpv4(0x0a63_000b);
    packet.opcode = 0x04;
    packet.destinationQpn = 0x11;
    packet.psn = 0x100;
    packet.ackRequest = true;
    packet.udpSourcePort = 0xc123;
    Frames.payload(packet, new byte[] {'h', 'e', 'l', 'l', 'o'});
    assertWrites(
        packet,
        IPV4 + "4500003400004000401125e80a6300010a63000b c12312b700200000" + HELLO + "d0e4ccfc");
  }
}
