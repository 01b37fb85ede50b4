package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.verbs.Failures.assertErrno;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GlobalRouteHeaderTest {
  /** Version 6, class a5h, flow 12345h; 96 bytes, next header 1bh, hop limit 63; two GIDs. */
  private static final String IPV6 =
      "6a51234500601b3f" + "fe80000000000000020203fffe040506" + "fe800000000000000a0b0cfffe0d0e0f";

  /** From 192.168.0.1 to 192.168.0.199, time to live 64; the checksum is b861h. */
  private static final String IPV4 = "45000073000040004011b861c0a80001c0a800c7";

  private static MemorySegment bytes(String hex) {
    return MemorySegment.ofArray(HexFormat.of().parseHex(hex));
  }

  @Test
  void headerOfFortyBytesIsRead() {
    GlobalRouteHeader header = GlobalRouteHeader.of(bytes(IPV6));
    assertThat(header.sourceGid())
        .isEqualTo(new Gid(0xfe80_0000_0000_0000L, 0x0202_03ff_fe04_0506L));
    assertThat(header.destinationGid())
        .isEqualTo(new Gid(0xfe80_0000_0000_0000L, 0x0a0b_0cff_fe0d_0e0fL));
    assertThat(header.trafficClass()).isEqualTo(0xa5);
    assertThat(header.flowLabel()).isEqualTo(0x12345);
    assertThat(header.hopLimit()).isEqualTo(63);
  }

  @ParameterizedTest
  @CsvSource({
    "0000000000000000000000000000000000000000",
    // Bytes left by an earlier datagram may look like the other form.
    "6a51234500601b3ffe80000000000000020203ff",
    "ffffffffffffffffffffffffffffffffffffffff"
  })
  void ipv4HeaderBehindTwentyBytesOfAnythingIsRead(String before) {
    GlobalRouteHeader header = GlobalRouteHeader.of(bytes(before + IPV4));
    assertThat(header.sourceGid()).isEqualTo(Gid.ofIpv4(0xc0a80001));
    assertThat(header.destinationGid()).isEqualTo(Gid.ofIpv4(0xc0a800c7));
    assertThat(header.trafficClass()).isZero();
    assertThat(header.flowLabel()).isZero();
    assertThat(header.hopLimit()).isEqualTo(64);
  }

  @Test
  void ipv4WithAWrongChecksumIsTheOtherForm() {
    String gids = "6000000000001b01" + "0".repeat(24) + IPV4.replace("b861", "b862");
    assertThat(GlobalRouteHeader.of(bytes(gids)).hopLimit()).isEqualTo(1);
  }

  @Test
  void onlyTheFirstFortyBytesCount() {
    assertThat(GlobalRouteHeader.of(bytes(IPV6 + "ffff")))
        .isEqualTo(GlobalRouteHeader.of(bytes(IPV6)));
  }

  @ParameterizedTest
  @CsvSource({"39", "0"})
  void fewerThanFortyBytesAreRefused(int length) {
    assertErrno(Errno.EINVAL, () -> GlobalRouteHeader.of(MemorySegment.ofArray(new byte[length])))
        .hasMessageContaining("not " + length);
  }

  @Test
  void neitherFormIsRefused() {
    assertErrno(Errno.EINVAL, () -> GlobalRouteHeader.of(MemorySegment.ofArray(new byte[40])))
        .hasMessageContaining("not a global route header");
  }
}
