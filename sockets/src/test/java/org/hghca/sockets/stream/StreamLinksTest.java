package org.hghca.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The same streams over each kind of link between devices. */
class StreamLinksTest {
  enum Link {
    HUB,
    LOSSY_HUB,
    SHARED_MEMORY,
    UDP;

    TwoStreamDevices open() {
      return switch (this) {
        case HUB -> TwoStreamDevices.onHub("");
        case LOSSY_HUB -> TwoStreamDevices.onHub("&drop=0.002&reorder=0.01&seed=1");
        case SHARED_MEMORY -> TwoStreamDevices.throughSharedMemory();
        case UDP -> TwoStreamDevices.overUdp();
      };
    }
  }

  @ParameterizedTest
  @EnumSource(Link.class)
  void carriesBytesBothWaysAndThenTheEnd(Link link) throws IOException {
    try (TwoStreamDevices devices = link.open()) {
      TwoStreamDevices.Pair pair = devices.pair();
      int bytes = link == Link.LOSSY_HUB ? 200_001 : 2_000_001;
      new Transfer(link.ordinal())
          .begin(Thread.ofPlatform(), pair.client(), pair.server(), bytes, 80_000)
          .begin(Thread.ofPlatform(), pair.server(), pair.client(), bytes / 7, 700)
          .end();
      pair.client().close();
      assertThat(TwoStreamDevices.isAtEnd(pair.server())).isTrue();
      pair.server().close();
    }
  }
}
