package org.hghca.wire.frame;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.hghca.wire.PortAddresses;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reports of IPv6 multicast groups, against those that Linux 6.18 sends, and its queries. */
class ListenerFrameTest {
  private static final String ETHERNET = "33330000001602112233445586dd";
  private static final String ROUTERS = "ff0200000000000000000000000000163a00050200000100";
  private static final String LINK_LOCAL = "fe80000000000000001122fffe334455";
  private static final String NONE = "00".repeat(16);

  /** Joining, leaving, the answer to a query; of a port without a link-local address. */
  @ParameterizedTest
  @CsvSource({
    "4, ff050000000000000000000100020003, 0a69, true",
    "3, ff050000000000000000000100020003, 0b69, true",
    "4, ff0200000000000000000001ff334455, c6e7, true",
    "4, ff0200000000000000000001ff334455, 2b02, false"
  })
  void reportMatchesThatOfLinux(int record, String group, String checksum, boolean isLocal) {
    MemorySegment memory = MemorySegment.ofArray(new byte[96]).fill((byte) -1);
    String source = isLocal ? LINK_LOCAL : NONE;
    ListenerFrame.write(
        memory,
        3,
        0x0211_2233_4455L,
        half(source, 0),
        half(source, 16),
        record,
        half(group, 0),
        half(group, 16));
    MemorySegment frame = memory.asSlice(3, ListenerFrame.SIZE);
    assertThat(ListenerFrame.isListener(frame, 0, ListenerFrame.SIZE)).isTrue();
    assertThat(ListenerFrame.isQuery(frame, 0, ListenerFrame.SIZE, PortAddresses.NONE)).isFalse();
    String hex = HexFormat.of().formatHex(memory.toArray(ValueLayout.JAVA_BYTE));
    assertThat(hex)
        .isEqualTo(
            ("ff".repeat(3) + ETHERNET + "6000000000240001" + source + ROUTERS)
                + ("8f00" + checksum + "00000001" + "0" + record + "000000" + group)
                + "ff".repeat(3));
  }

  private static long half(String address, int at) {
    return HexFormat.fromHexDigitsToLong(address, at, at + 16);
  }

  private static boolean isQuery(String hex) {
    return isQuery(hex, PortAddresses.NONE);
  }

  private static boolean isQuery(String hex, PortAddresses own) {
    byte[] frame = HexFormat.of().parseHex(hex);
    MemorySegment memory = MemorySegment.ofArray(frame);
    return ListenerFrame.isListener(memory, 0, frame.length)
        && ListenerFrame.isQuery(memory, 0, frame.length, own);
  }

  /** General and of one group, of version 2; general, of version 1. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "33330000000102112233446686dd6000000000240001fe80000000000000001122fffe334466ff02000000000000"
            + "00000000000000013a000502000000008200f162271000000000000000000000000000000000000002070000",
        "33330002000302112233446686dd6000000000240001fe80000000000000001122fffe334466ff05000000000000"
            + "00000001000200033a0005020000000082000d7703e80000ff0500000000000000000001000200030a070000",
        "33330000000102112233446686dd6000000000200001fe80000000000000001122fffe334466ff02000000000000"
            + "00000000000000013a000502000000008200f36d2710000000000000000000000000000000000000"
      })
  void queryIsRecognized(String hex) {
    assertThat(isQuery(hex)).isTrue();
    assertThat(isQuery(hex.replace("00008200", "00008f00"))).as("a report").isFalse();
    assertThat(isQuery(hex.replace("86dd", "0800"))).as("IPv4").isFalse();
    assertThat(isQuery(hex.replace("3a000502", "11000502"))).as("UDP").isFalse();
    assertThat(isQuery(hex.replace("3a000502", "3a010502"))).as("longer options").isFalse();
    assertThat(isQuery(hex.replace("0001fe80", "3a01fe80"))).as("no options").isFalse();
    assertThat(isQuery(hex.replace("0001fe80", "0002fe80"))).as("hop limit 2").isFalse();
    assertThat(isQuery(hex.replace("0001fe80", "00012001"))).as("from afar").isFalse();
    assertThat(isQuery(hex.replace("3a000502", "3a000602"))).as("no router alert").isFalse();
    assertThat(isQuery(hex.replace("00008200", "00008201"))).as("checksum").isFalse();
  }

  /** As scapy makes it. */
  @Test
  void queryToAnAddressOfTheHostIsRecognized() {
    String hex =
        "02112233447702112233446686dd6000000000240001fe80000000000000001122fffe334466"
            + "fe80000000000000001122fffe3344773a0005020000010082008e3127100000"
            + "0000000000000000000000000000000000000000";
    PortAddresses own = PortAddresses.NONE.withLinkLocal(0x0211_2233_4477L);
    assertThat(isQuery(hex, own)).isTrue();
    assertThat(isQuery(hex, PortAddresses.NONE.withLinkLocal(0x0211_2233_4478L))).isFalse();
  }

  /** In milliseconds: 10 s of version 2, 10 s of version 1, the greatest of version 2. */
  @ParameterizedTest
  @CsvSource({"24, 2710, 10000", "20, 2710, 10000", "24, ffff, 8387584", "20, ffff, 65535"})
  void responseTimeIsRead(String payload, String code, long millis) {
    String frame =
        ETHERNET + "6000000000" + payload + "0001" + LINK_LOCAL + ROUTERS + "82000000" + code;
    MemorySegment memory = MemorySegment.ofArray(HexFormat.of().parseHex(frame));
    assertThat(ListenerFrame.responseNanos(memory, 0)).isEqualTo(millis * 1_000_000);
  }

  @Test
  void truncatedFrameIsNoQuery() {
    String query =
        "33330000000102112233446686dd6000000000200001fe80000000000000001122fffe334466ff02000000000000"
            + "00000000000000013a000502000000008200f36d2710000000000000000000000000000000000000";
    assertThat(isQuery(query.substring(0, query.length() - 2))).isFalse();
    assertThat(isQuery("")).isFalse();
  }
}
