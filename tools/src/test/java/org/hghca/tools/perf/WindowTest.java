package org.hghca.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class WindowTest {
  private final Window window =
      new Window(new Parameters.Span(Duration.ofNanos(100), Duration.ofNanos(20), false), 1000);

  @Test
  void marginsDoNotCount() {
    assertThat(window.look(1010, 1)).isFalse();
    assertThat(window.look(1025, 3)).isFalse();
    assertThat(window.look(1079, 40)).isFalse();
    assertThat(window.look(1085, 43)).isFalse();
    assertThat(window.look(1099, 60)).isFalse();
    assertThat(window.look(1100, 70)).isTrue();
    assertThat(window.counted()).isEqualTo(40);
    assertThat(window.nanos()).isEqualTo(60);
  }

  @Test
  void interruptEndsWhatCounts() {
    assertThat(window.look(1030, 5)).isFalse();
    window.stop(1050, 15);
    assertThat(window.counted()).isEqualTo(10);
    assertThat(window.nanos()).isEqualTo(20);
  }

  @Test
  void nothingCountsInTheFirstMargin() {
    window.stop(1010, 5);
    assertThat(window.counted()).isZero();
    assertThat(window.nanos()).isZero();
  }
}
