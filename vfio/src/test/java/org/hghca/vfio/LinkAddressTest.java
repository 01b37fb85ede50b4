package org.hghca.vfio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.net.InetAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LinkAddressTest {

  private static LinkAddress of(String locator) {
    return LinkAddress.of(Locator.parse(locator));
  }

  @Test
  void addressesOfTheLocatorAreUsed() {
    LinkAddress address = of("model:a?mac=02:1a:bc:DE:0f:01&ip=192.168.0.255");

    assertThat(address.mac()).isEqualTo(0x021a_bcde_0f01L);
    assertThat(address.ip()).isEqualTo(0xc0a8_00ff);
    assertThat(address.macText()).isEqualTo("02:1a:bc:de:0f:01");
  }

  @Test
  void eitherAddressMayBeGivenAlone() {
    assertThat(of("model:a?ip=10.1.2.3").ip()).isEqualTo(0x0a01_0203);
    assertThat(of("model:a?mac=00:11:22:33:44:55").mac()).isEqualTo(0x0011_2233_4455L);
  }

  @Test
  void tracedDeviceHasTheSameAddress() {
    assertThat(of("model:a?x=1&trace=t.json")).isEqualTo(of("model:a?x=1"));
    assertThat(of("model:a?x=2")).isNotEqualTo(of("model:a?x=1"));
  }

  @Test
  void defaultMacIsLocallyAdministeredAndUnicast() {
    for (int i = 0; i < 100; i++) {
      long mac = of("model:device" + i).mac();

      assertThat(mac >>> 48).as("48 bits").isZero();
      assertThat(mac >>> 41 & 1).as("locally administered").isOne();
      assertThat(mac >>> 40 & 1).as("group bit").isZero();
    }
  }

  @Test
  void defaultIpIsInTheFirstPrivateNetwork() {
    for (int i = 0; i < 100; i++) {
      assertThat(of("model:device" + i).ip() >>> 24).isEqualTo(10);
    }
  }

  @Test
  void defaultsAreStableAndDifferBetweenLocators() {
    Set<Long> macs = new HashSet<>();
    Set<Integer> ips = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      LinkAddress address = of("model:device" + i);
      assertThat(of("model:device" + i)).isEqualTo(address);
      macs.add(address.mac());
      ips.add(address.ip());
    }

    assertThat(macs).hasSize(100);
    assertThat(ips).hasSize(100);
  }

  @Test
  void defaultIpEndsInTheSameBytesAsTheMac() {
    assertThat(of("model:a?mac=02:1a:bc:de:0f:01").ip()).isEqualTo(0x0ade_0f01);
  }

  @Test
  void orderOfParametersDoesNotChangeTheDefault() {
    assertThat(of("model:a?x=1&y=2")).isEqualTo(of("model:a?y=2&x=1"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "02:00:00:00:00",
        "02:00:00:00:00:00:00",
        "02:00:00:00:00:0",
        "02:00:00:00:00:001",
        "02-00-00-00-00-00",
        "02:00:00:00:00:0g",
        "+2:00:00:00:00:00",
        "-2:00:00:00:00:00",
        "02:00:00:00:00:-1",
        "01:00:5e:00:00:01",
        "ff:ff:ff:ff:ff:ff"
      })
  void malformedMacIsNamed(String text) {
    assertReason(Reason.INVALID, () -> of("model:a?mac=" + text))
        .hasMessageContainingAll("mac=" + text, "aa:bb:cc:dd:ee:ff");
  }

  private static List<String> ips(String locator) {
    return of(locator).addresses().stream().map(InetAddress::getHostAddress).toList();
  }

  @Test
  void ipMayBeAListAndHasIpv4First() {
    assertThat(ips("model:a?ip=fd00::1,10.0.0.1,[fe80::5],10.0.0.2,fd00:0::1"))
        .containsExactly("10.0.0.1", "10.0.0.2", "fd00:0:0:0:0:0:0:1", "fe80:0:0:0:0:0:0:5");
    assertThat(of("model:a?ip=fd00::1,10.0.0.1").ip()).isEqualTo(0x0a00_0001);
    assertThat(of("model:a?ip=fd00::1").ip()).isZero();
    assertThat(ips("model:a?ip=::ffff:10.0.0.9")).containsExactly("10.0.0.9");
  }

  @Test
  void aPortThatIsBoundHasTheAddressesItIsBoundTo() {
    assertThat(ips("model:a?net=udp:192.0.2.1,[::1]"))
        .containsExactly("192.0.2.1", "0:0:0:0:0:0:0:1");
    assertThat(ips("model:a?net=udp:fe80::1%eth7,10.0.0.1"))
        .containsExactly("10.0.0.1", "fe80:0:0:0:0:0:0:1");
    assertThat(ips("model:a?net=udp:192.0.2.1&ip=fd00::1")).containsExactly("fd00:0:0:0:0:0:0:1");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "::",
        "ff02::1",
        "fe80::1%lo",
        "fd00::1,",
        ",10.0.0.1",
        "fd00:::1",
        "fd00::10000",
        "1:2:3:4:5:6:7",
        "host:5",
        "",
        "10",
        "10.0.0",
        "10.0.0.1.2",
        "10.0.0.256",
        "10.0.0.-1",
        "+1.2.3.4",
        "10..0.1",
        "10.0.0.x",
        "99999999999.0.0.1"
      })
  void malformedIpIsNamed(String text) {
    assertReason(Reason.INVALID, () -> of("model:a?ip=" + text))
        .hasMessageContainingAll("ip=", "a.b.c.d", "fd00::1");
  }
}
