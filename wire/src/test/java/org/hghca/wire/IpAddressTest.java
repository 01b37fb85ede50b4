package org.hghca.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class IpAddressTest {
  private static final long PREFIX = 0xfe80_0000_0000_0000L;

  @Test
  void anIpv4AddressIsTheOneOfIpv6ThatStandsForIt() {
    assertThat(IpAddress.lowOfIpv4(0xc000_0201)).isEqualTo(0x0000_ffff_c000_0201L);
    assertThat(IpAddress.ipv4(0, 0x0000_ffff_c000_0201L)).isEqualTo(0xc000_0201);
    assertThat(IpAddress.isIpv4(0, 0x0000_ffff_c000_0201L)).isTrue();
    assertThat(IpAddress.isIpv6(0, 0x0000_ffff_c000_0201L)).isFalse();
  }

  @Test
  void anAddressOfIpv6IsNoneOfIpv4() {
    for (long[] address : new long[][] {{PREFIX, 0xffff_c000_0201L}, {0, 1}, {0, 1L << 48}}) {
      assertThat(IpAddress.isIpv6(address[0], address[1])).isTrue();
      assertThat(IpAddress.isIpv4(address[0], address[1])).isFalse();
      assertThat(IpAddress.ipv4(address[0], address[1])).isZero();
    }
  }

  @Test
  void zeroIsNoAddress() {
    assertThat(IpAddress.lowOfIpv4(0)).isZero();
    assertThat(IpAddress.isIpv4(0, 0)).isFalse();
    assertThat(IpAddress.isIpv6(0, 0)).isFalse();
  }
}
