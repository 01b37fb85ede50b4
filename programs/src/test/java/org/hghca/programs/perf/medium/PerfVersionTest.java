package org.hghca.programs.perf.medium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import org.hghca.programs.perf.PerfException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PerfVersionTest {
  private static byte[] padded(String text) {
    return Arrays.copyOf(text.getBytes(StandardCharsets.US_ASCII), 16);
  }

  @Test
  void oursIsThatOfPerftestWithAMarkBehindIt() {
    assertThat(PerfVersion.OURS.toMessage())
        .isEqualTo("6.27\0\0\0\0\0\0\0hghca".getBytes(StandardCharsets.US_ASCII));
    assertThat(PerfVersion.parse(PerfVersion.OURS.toMessage())).contains(PerfVersion.OURS);
  }

  @ParameterizedTest
  @ValueSource(strings = {"5.70", "5.96", "6.06", "6.24", "6.29"})
  void versionsOfPerftest(String text) {
    assertThat(PerfVersion.parse(padded(text))).contains(new PerfVersion(text, false));
  }

  @ParameterizedTest
  @ValueSource(strings = {"5.69", "5.5", "4.60", "0.1"})
  void olderOnesAreRefusedWithBothVersions(String text) {
    assertThatThrownBy(() -> PerfVersion.parse(padded(text)))
        .isInstanceOf(PerfException.class)
        .hasMessage(
            "the peer is perftest %s, whose conversation differs from that of 6.27, which this is;"
                + " it must be 5.70 or newer",
            text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "6", "6.x", "-6.27", "GET / HTTP/1.1\r\n", "6.27 and more te"})
  void otherTextIsNone(String text) {
    assertThat(PerfVersion.parse(padded(text))).isEqualTo(Optional.empty());
  }
}
