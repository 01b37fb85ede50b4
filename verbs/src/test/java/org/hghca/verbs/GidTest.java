package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GidTest {

  @ParameterizedTest
  @CsvSource({
    "000c290c47d5, fe80:0000:0000:0000:020c:29ff:fe0c:47d5",
    "020000000001, fe80:0000:0000:0000:0000:00ff:fe00:0001",
    "fedcba987654, fe80:0000:0000:0000:fcdc:baff:fe98:7654"
  })
  void linkLocalGidHoldsTheEui64OfTheMac(String mac, String gid) {
    long value = Long.parseLong(mac, 16);

    assertThat(Gid.ofMac(value)).hasToString(gid);
    assertThat(Gid.ofMac(value).mac()).hasValue(value);
    assertThat(Gid.ofMac(value).ipv4()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "10.0.0.1, 0000:0000:0000:0000:0000:ffff:0a00:0001",
    "2001:db8::9, 2001:0db8:0000:0000:0000:0000:0000:0009",
    "::1, 0000:0000:0000:0000:0000:0000:0000:0001"
  })
  void anIpAddressHasAGid(String address, String gid) {
    InetAddress ip = InetAddress.ofLiteral(address);
    assertThat(Gid.of(ip)).hasToString(gid);
    assertThat(Gid.of(ip).address()).isEqualTo(ip);
  }

  @Test
  void linkLocalIsOnePrefix() {
    assertThat(Gid.ofMac(0x0200_0000_0001L).isLinkLocal()).isTrue();
    assertThat(Gid.of(InetAddress.ofLiteral("fe80:0:0:1::1")).isLinkLocal()).isFalse();
    assertThat(Gid.ofIpv4(1).isLinkLocal()).isFalse();
  }

  @Test
  void eui64IsTheInterfaceIdOfTheLinkLocalGid() {
    assertThat(Gid.eui64(0x000c_290c_47d5L)).isEqualTo(0x020c_29ff_fe0c_47d5L);
  }

  @ParameterizedTest
  @CsvSource({
    "0x0a000001, 0000:0000:0000:0000:0000:ffff:0a00:0001",
    "0xc0a800ff, 0000:0000:0000:0000:0000:ffff:c0a8:00ff"
  })
  void ipv4AddressIsMapped(long address, String gid) {
    assertThat(Gid.ofIpv4((int) address)).hasToString(gid);
    assertThat(Gid.ofIpv4((int) address).ipv4()).contains((int) address);
    assertThat(Gid.ofIpv4((int) address).mac()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fe80000000000001020c29fffe0c47d5",
        "fe80000000000000020c290000000001",
        "fe80000000000000020c29fffd0c47d5",
        "00000000000000000000fffe0a000001",
        "00000000000000010000ffff0a000001"
      })
  void otherGidsHoldNeitherMacNorIpv4Address(String hex) {
    assertThat(Gid.ofHex(hex).mac()).isEmpty();
    assertThat(Gid.ofHex(hex).ipv4()).isEmpty();
  }

  @Test
  void hexIsTheSixteenBytesInOrder() {
    Gid gid = new Gid(0x0011_2233_4455_6677L, 0x8899_aabb_ccdd_eeffL);

    assertThat(gid.hex()).isEqualTo("00112233445566778899aabbccddeeff");
    assertThat(Gid.ofHex("00112233445566778899aabbccddeeff")).isEqualTo(gid);
    assertThat(Gid.ofHex("00112233445566778899AABBCCDDEEFF")).isEqualTo(gid);
    assertThat(gid).hasToString("0011:2233:4455:6677:8899:aabb:ccdd:eeff");
  }

  @Test
  void noneIsAllZero() {
    assertThat(Gid.NONE.hex()).isEqualTo("0".repeat(32));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "0011223344556677",
        "00112233445566778899aabbccddeef",
        "00112233445566778899aabbccddeeff0",
        "00112233445566778899aabbccddeefg",
        "0011:2233:4455:6677:8899:aabb:cc",
        "-0112233445566778899aabbccddeeff"
      })
  void malformedHexIsRefused(String text) {
    assertThatThrownBy(() -> Gid.ofHex(text)).isInstanceOf(VerbsException.class);
  }
}
