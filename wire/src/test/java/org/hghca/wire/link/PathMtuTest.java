package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The path MTU that a network's MTU allows, as Linux's soft RoCE chooses it. */
final class PathMtuTest {

  @ParameterizedTest
  @CsvSource({
    "65536, 4096",
    "4176, 4096",
    "4175, 2048",
    "2128, 2048",
    "2127, 1024",
    "1500, 1024",
    "1103, 512",
    "592, 512",
    "336, 256",
    "68, 256"
  })
  void largestFittingMtuIsUsed(int mtu, int path) {
    assertThat(PathMtu.of(mtu)).isEqualTo(path);
  }
}
