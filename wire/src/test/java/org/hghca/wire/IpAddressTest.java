package org.hghca.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class IpAddressTest {
  private static final long PREFIX = 0xfe80_0000_0000_0000L;

  @Test
  void ipv4AddressIsItsMappedIpv6Address() {
    assertThat(IpAddress.lowOfIpv4(0xc000_0201)).isEqualTo(0x0000_ffff_c000_0201L);
    assertThat(IpAddress.ipv4(0, 0x0000_ffff_c000_0201L)).isEqualTo(0xc000_0201);
    assertThat(IpAddress.isIpv4(0, 0x0000_ffff_c000_0201L)).isTrue();
    assertThat(IpAddress.isIpv6(0, 0x0000_ffff_c000_0201L)).isFalse();
  }

  @Test
  void ipv6AddressIsNoIpv4Address() {
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

  @Test
  void groupsAreFrom224To239AndFfOfIpv6() {
    assertThat(IpAddress.isGroup(0, IpAddress.lowOfIpv4(0xdfff_ffff))).isFalse();
    assertThat(IpAddress.isGroup(0, IpAddress.lowOfIpv4(0xe000_0000))).isTrue();
    assertThat(IpAddress.isGroup(0, IpAddress.lowOfIpv4(0xefff_ffff))).isTrue();
    assertThat(IpAddress.isGroup(0, IpAddress.lowOfIpv4(0xf000_0000))).isFalse();
    assertThat(IpAddress.isGroup(0xff02L << 48, 1)).isTrue();
    assertThat(IpAddress.isGroup(PREFIX, 1)).isFalse();
    assertThat(IpAddress.isGroup(0, 0)).isFalse();
  }

  @Test
  void groupHasAnEthernetAddressWithItsLastBits() {
    assertThat(IpAddress.groupMac(0, IpAddress.lowOfIpv4(0xef81_0203)))
        .isEqualTo(0x0100_5e01_0203L);
    assertThat(IpAddress.groupMac(0, IpAddress.lowOfIpv4(0xe07f_fffe)))
        .isEqualTo(0x0100_5e7f_fffeL);
    assertThat(IpAddress.groupMac(0xff02L << 48, 0x1_8765_4321L)).isEqualTo(0x3333_8765_4321L);
  }
}
