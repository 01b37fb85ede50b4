package org.hghca.cm.carrier;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PathTest {

  /** Life 16 and 18 with delay 15 are what Linux sends for soft RoCE. */
  @ParameterizedTest
  @CsvSource({
    "16, 15, 17",
    "18, 15, 19",
    "14, 15, 16",
    "15, 15, 17",
    "13, 15, 16",
    "12, 15, 15",
    "0, 0, 2",
    "0, 3, 3",
    "30, 31, 31",
    "31, 0, 31"
  })
  void ackTimeoutCoversTheRoundTripAndTheDelay(int life, int delay, int timeout) {
    Path path = new Path(Gid.NONE, 0, Gid.NONE, 0, 0, 64, 0, 1, Mtu.MTU_1024, life);
    assertThat(path.ackTimeout(delay)).isEqualTo(timeout);
  }
}
