package org.hghca.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;

class PortAddressesTest {
  private static final long PREFIX = 0x2001_0db8_0000_0000L;
  private static final long IPV4 = 0xffff_0a00_0001L;

  private final PortAddresses addresses =
      PortAddresses.of(
              List.of(
                  InetAddress.ofLiteral("10.0.0.1"),
                  InetAddress.ofLiteral("10.9.0.1"),
                  InetAddress.ofLiteral("2001:db8::1"),
                  InetAddress.ofLiteral("2001:db8:0:1::1")))
          .withLinkLocal(0x5254_0012_3456L);

  private int toward(String address) {
    PortAddresses one = PortAddresses.of(List.of(InetAddress.ofLiteral(address)));
    return addresses.toward(one.high(0), one.low(0));
  }

  @Test
  void addressesKeepTheirOrder() {
    assertThat(addresses.count()).isEqualTo(5);
    assertThat(addresses.high(0)).isZero();
    assertThat(addresses.low(0)).isEqualTo(IPV4);
    assertThat(addresses.high(2)).isEqualTo(PREFIX);
    assertThat(addresses.low(2)).isOne();
    assertThat(addresses.high(4)).isEqualTo(0xfe80_0000_0000_0000L);
    assertThat(addresses.low(4)).isEqualTo(0x5054_00ff_fe12_3456L);
  }

  @Test
  void duplicateAddressIsAddedOnce() {
    assertThat(addresses.has(0, IPV4)).isTrue();
    assertThat(addresses.has(0, IPV4 + 1)).isFalse();
    assertThat(addresses.has(0, 0)).isFalse();
    assertThat(addresses.with(PREFIX, 1).count()).isEqualTo(5);
    assertThat(addresses.with(PREFIX, 2).count()).isEqualTo(6);
    assertThat(PortAddresses.NONE.has(0, 0)).isFalse();
  }

  @Test
  void longestCommonPrefixSelectsTheSource() {
    assertThat(toward("10.0.0.7")).isZero();
    assertThat(toward("10.9.4.7")).isOne();
    assertThat(toward("192.0.2.1")).isZero();
    assertThat(toward("2001:db8::9")).isEqualTo(2);
    assertThat(toward("2001:db8:0:1::9")).isEqualTo(3);
    assertThat(toward("fe80::1")).isEqualTo(4);
    assertThat(PortAddresses.NONE.with(0, IPV4).toward(PREFIX, 1)).isEqualTo(-1);
    assertThat(PortAddresses.NONE.with(PREFIX, 1).toward(0, IPV4)).isEqualTo(-1);
  }
}
