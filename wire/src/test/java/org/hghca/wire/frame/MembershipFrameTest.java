package org.hghca.wire.frame;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.hghca.wire.IpAddress;
import org.hghca.wire.PortAddresses;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reports of multicast groups, against those that Linux 6.18 sends. */
class MembershipFrameTest {
  private static final String HEADERS =
      "01005e00001602112233445508004" + "6c00028000040000102f9f80a000001e000001694040000";

  @ParameterizedTest
  @CsvSource({"4, 2200e8f90000000104000000ef010203", "3, 2200e9f90000000103000000ef010203"})
  void reportMatchesThatOfLinux(int record, String report) {
    MemorySegment memory = MemorySegment.ofArray(new byte[64]).fill((byte) -1);
    MembershipFrame.write(memory, 2, 0x0211_2233_4455L, 0x0a00_0001, record, 0xef01_0203);
    assertThat(MembershipFrame.isMembership(memory, 2, MembershipFrame.SIZE)).isTrue();
    assertThat(MembershipFrame.isQuery(memory, 2, MembershipFrame.SIZE, PortAddresses.NONE))
        .isFalse();
    byte[] frame = memory.asSlice(2, MembershipFrame.SIZE).toArray(ValueLayout.JAVA_BYTE);
    assertThat(HexFormat.of().formatHex(frame)).isEqualTo(HEADERS + report + "00".repeat(6));
    assertThat(memory.get(ValueLayout.JAVA_BYTE, 1)).isEqualTo((byte) -1);
    assertThat(memory.get(ValueLayout.JAVA_BYTE, 62)).isEqualTo((byte) -1);
  }

  private static boolean isQuery(String hex) {
    return isQuery(hex, PortAddresses.NONE);
  }

  private static boolean isQuery(String hex, PortAddresses own) {
    byte[] frame = HexFormat.of().parseHex(hex);
    MemorySegment memory = MemorySegment.ofArray(frame);
    return MembershipFrame.isMembership(memory, 0, frame.length)
        && MembershipFrame.isQuery(memory, 0, frame.length, own);
  }

  /** Of version 3 with the option "router alert", and of version 2 without. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "01005e0000010211223344660800460000240000000001023aca"
            + "0a000009e0000001940400001114eceb0000000002000000",
        "01005e00000102112233446608004500001c000000000102cfd6" + "0a000009e00000011114eeeb00000000"
      })
  void queryIsRecognized(String hex) {
    assertThat(isQuery(hex)).isTrue();
    assertThat(isQuery(hex.replace("1114e", "1614e"))).as("a report").isFalse();
    assertThat(isQuery(hex.substring(0, 46) + "11" + hex.substring(48))).as("UDP").isFalse();
    assertThat(isQuery(hex.replace("0800", "0806"))).as("ARP").isFalse();
    assertThat(isQuery(hex.replace("1114e", "1113e"))).as("checksum").isFalse();
    assertThat(isQuery(hex.replace("0a000009", "0a000008"))).as("checksum of IP").isFalse();
    // These two leave the checksum of IP right.
    assertThat(isQuery(hex.replace("0000000001", "0000feff02"))).as("time to live 2").isFalse();
    assertThat(isQuery(hex.replace("0009e0000001", "0008e0000002"))).as("to routers").isFalse();
  }

  /** As scapy makes it. */
  @Test
  void queryToAnAddressOfTheHostIsRecognized() {
    String hex =
        "021122334477021122334466080046c0002400010000010210030a000009"
            + "0a000008940400001114eeeb0000000000000000";
    assertThat(isQuery(hex, PortAddresses.NONE.with(0, IpAddress.lowOfIpv4(0x0a00_0008)))).isTrue();
    assertThat(isQuery(hex, PortAddresses.NONE.with(0, IpAddress.lowOfIpv4(0x0a00_0007))))
        .isFalse();
  }

  /** In tenths of a second: of version 1, 2 and 3. */
  @ParameterizedTest
  @CsvSource({"1c, 00, 100", "1c, 64, 100", "1c, ff, 255", "20, 64, 100", "20, ff, 31744"})
  void responseTimeIsRead(String total, String code, long tenths) {
    String frame = "00".repeat(12) + "0800450000" + total + "00".repeat(16) + "11" + code;
    MemorySegment memory = MemorySegment.ofArray(HexFormat.of().parseHex(frame));
    assertThat(MembershipFrame.responseNanos(memory, 0)).isEqualTo(tenths * 100_000_000);
  }

  @Test
  void truncatedFrameIsNoQuery() {
    String query =
        "01005e00000102112233446608004500001c000000000102cfd6" + "0a000009e00000011114eeeb00000000";
    assertThat(isQuery(query.substring(0, query.length() - 2))).isFalse();
    assertThat(isQuery(query.replace("08004500", "08004f00"))).as("options").isFalse();
    assertThat(isQuery(query.replace("08004500", "08004000"))).as("no header").isFalse();
    assertThat(isQuery("")).isFalse();
  }
}
