package org.hghca.sockets.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.SocketException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SocketSettingsTest {
  @Test
  void withoutPropertiesAllGoesOverRdmaWithoutFallback() throws SocketException {
    SocketSettings settings = SocketSettings.read(_ -> null);

    assertThat(settings.devices()).isEmpty();
    assertThat(settings.networks())
        .anyMatch(network -> network.contains(InetAddress.ofLiteral("192.0.2.1")))
        .anyMatch(network -> network.contains(InetAddress.ofLiteral("2001:db8::1")));
    assertThat(settings.fallback()).isEmpty();
    assertThat(settings.options().receiveBuffer() + settings.options().sendBuffer())
        .isLessThanOrEqualTo(512 * 1024);
  }

  @Test
  void readsEachProperty() throws SocketException {
    Map<String, String> properties =
        Map.of(
            SocketSettings.DEVICES,
            "model:a?ip=10.0.0.1,fd00::1; hghca0",
            SocketSettings.NETWORKS,
            "10.0.0.0/8, fd00::/16",
            SocketSettings.FALLBACK,
            "tcp",
            SocketSettings.FALLBACK_AFTER,
            "PT1S",
            SocketSettings.RECEIVE_BUFFER,
            "65536",
            SocketSettings.SEND_BUFFER,
            "8192");

    SocketSettings settings = SocketSettings.read(properties::get);

    assertThat(settings.devices()).containsExactly("model:a?ip=10.0.0.1,fd00::1", "hghca0");
    assertThat(settings.networks())
        .containsExactly(Network.parse("10.0.0.0/8"), Network.parse("fd00::/16"));
    assertThat(settings.fallback()).contains(Duration.ofSeconds(1));
    assertThat(settings.options().receiveBuffer()).isEqualTo(65536);
    assertThat(settings.options().sendBuffer()).isEqualTo(8192);
  }

  @ParameterizedTest
  @CsvSource({
    "org.hghca.sockets.networks, 10.0.0.0/99",
    "org.hghca.sockets.networks, example.org",
    "org.hghca.sockets.fallback, udp",
    "org.hghca.sockets.receiveBuffer, many",
    "org.hghca.sockets.sendBuffer, 1"
  })
  void refusesByNameWhatItCannotRead(String property, String value) {
    assertThatThrownBy(() -> SocketSettings.read(name -> name.equals(property) ? value : null))
        .isInstanceOf(SocketException.class)
        .hasMessageContaining(property + "=" + value)
        .hasMessageContaining("must be");
  }

  @ParameterizedTest
  @CsvSource({"300", "-PT1S"})
  void refusesATimeThatIsNone(String after) {
    Map<String, String> properties =
        Map.of(SocketSettings.FALLBACK, "tcp", SocketSettings.FALLBACK_AFTER, after);

    assertThatThrownBy(() -> SocketSettings.read(properties::get))
        .isInstanceOf(SocketException.class)
        .hasMessageContaining(SocketSettings.FALLBACK_AFTER + "=" + after);
  }
}
