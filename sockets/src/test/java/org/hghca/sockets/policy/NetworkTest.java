package org.hghca.sockets.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NetworkTest {
  @ParameterizedTest
  @CsvSource({
    "10.0.0.0/8, 10.255.255.255, true",
    "10.0.0.0/8, 11.0.0.0, false",
    "10.0.0.0/8, fd00::1, false",
    "10.1.2.128/25, 10.1.2.128, true",
    "10.1.2.128/25, 10.1.2.127, false",
    "10.1.2.3, 10.1.2.3, true",
    "10.1.2.3, 10.1.2.2, false",
    "0.0.0.0/0, 255.1.2.3, true",
    "0.0.0.0/0, ::1, false",
    "fd00::/9, fd7f::1, true",
    "fd00::/9, fd80::1, false",
    "::/0, fe80::1, true",
    "::1, ::1, true"
  })
  void containsWhatBeginsAlike(String network, String address, boolean inside) {
    assertThat(Network.parse(network).contains(InetAddress.ofLiteral(address))).isEqualTo(inside);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "10.0.0.0/33", "fd00::/129", "10.0.0.0/-1", "10.0.0.0/x", "host/8"})
  void refusesWhatIsNoNetwork(String text) {
    assertThatThrownBy(() -> Network.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void countsTheBitsInCommon() {
    assertThat(common("10.0.0.1", "10.0.0.1")).isEqualTo(32);
    assertThat(common("10.0.0.0", "10.0.0.1")).isEqualTo(31);
    assertThat(common("10.0.0.0", "138.0.0.0")).isZero();
    assertThat(common("10.0.0.0", "10.0.128.0")).isEqualTo(16);
  }

  private static int common(String one, String other) {
    return Network.commonBits(InetAddress.ofLiteral(one), InetAddress.ofLiteral(other));
  }
}
