package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GrhBytesTest {
  private static final int SEND_ONLY = 0x64;
  private static final int SEND_ONLY_IMM = 0x65;

  private final Packet packet = new PacketPool().take();

  private String header() {
    return HexFormat.of().formatHex(new GrhBytes().of(packet).toArray(ValueLayout.JAVA_BYTE));
  }

  @Test
  void ipv4PacketHasItsHeaderBehindTwentyZeroBytes() {
    packet.opcode = SEND_ONLY;
    packet.length = 100;
    packet.sourceIpv4(0x0a00_0001);
    packet.destinationIpv4(0x0a00_0002);
    assertThat(header())
        .isEqualTo(
            "00".repeat(20)
                + "45000098" // 20 + 8 UDP + 12 BTH + 8 DETH + 100 + 4 CRC
                + "00004000"
                + "40112653"
                + "0a000001"
                + "0a000002");
  }

  @Test
  void immediateAndPaddingCountAsLength() {
    packet.opcode = SEND_ONLY_IMM;
    packet.length = 5;
    packet.sourceIpv4(0x0a00_0001);
    packet.destinationIpv4(0x0a00_0002);
    assertThat(header().substring(40)).isEqualTo("4500004000004000401126ab0a0000010a000002");
    packet.destinationIpv4(0);
    assertThat(header()).startsWith("60000000" + "00241b40");
  }

  @Test
  void networkFieldsArePassedOnUnchanged() {
    packet.opcode = SEND_ONLY;
    packet.length = 100;
    packet.sourceIpv4(0x0a00_0001);
    packet.destinationIpv4(0x0a00_0002);
    packet.trafficClass = 0xc2;
    packet.identification = 0x718c;
    packet.hopLimit = 3;
    assertThat(header().substring(40)).isEqualTo("45c20098718c40000311f1040a0000010a000002");
  }

  @Test
  void ipv6PacketHasItsHeader() {
    packet.opcode = SEND_ONLY_IMM;
    packet.length = 5;
    packet.sourceIpHigh = 0xfe80_0000_0000_0000L;
    packet.sourceIpLow = 0x5054_00ff_fe12_3456L;
    packet.destinationIpHigh = 0xfe80_0000_0000_0000L;
    packet.destinationIpLow = 0x5054_00ff_fe65_4321L;
    packet.trafficClass = 0xc2;
    packet.flowLabel = 0x1_2345;
    packet.hopLimit = 3;
    assertThat(header())
        .isEqualTo(
            "6c212345"
                + "002c1103" // 8 UDP + 12 BTH + 8 DETH + 4 ImmDt + 8 + 4 CRC
                + "fe80000000000000"
                + "505400fffe123456"
                + "fe80000000000000"
                + "505400fffe654321");
  }

  @Test
  void packetWithoutNetworkFieldsGetsLinkLocalAddresses() {
    packet.opcode = SEND_ONLY;
    packet.length = 0;
    packet.sourceMac = 0x1234_5678_9abcL;
    packet.destinationMac = 0x0200_0000_00ffL;
    packet.sourceIpv4(0x0a00_0001);
    packet.destinationIpv4(0);
    assertThat(header())
        .isEqualTo(
            "60000000"
                + "00181b40" // 12 BTH + 8 DETH + 4 CRC
                + "fe80000000000000"
                + "103456fffe789abc"
                + "fe80000000000000"
                + "000000fffe0000ff");
  }

  @Test
  void headerKeepsNothingOfTheOneBefore() {
    var header = new GrhBytes();
    packet.opcode = SEND_ONLY;
    packet.sourceMac = -1L >>> 16;
    packet.destinationMac = -1L >>> 16;
    packet.destinationIpv4(0);
    header.of(packet);
    packet.destinationIpv4(1);
    assertThat(header.of(packet).asSlice(0, 20).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
  }

  /** The ones' complement sum of a header with a correct checksum is all ones. */
  @ParameterizedTest
  @CsvSource({"-1, -1, 4096", "0, 1, 0", "0xffff0000, 0x0000ffff, 1", "0x7f000001, 0xe0000001, 3"})
  void checksumIsCorrect(String source, String destination, int length) {
    packet.opcode = SEND_ONLY;
    packet.length = length;
    packet.sourceIpv4(Long.decode(source).intValue());
    packet.destinationIpv4(Long.decode(destination).intValue());
    byte[] bytes = HexFormat.of().parseHex(header());
    int sum = 0;
    for (int i = 20; i < 40; i += 2) {
      sum += (bytes[i] & 0xff) << 8 | bytes[i + 1] & 0xff;
    }
    assertThat((sum & 0xffff) + (sum >>> 16)).isEqualTo(0xffff);
  }
}
