package org.hghca.programs.perf.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.result.Course;
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

  @Test
  void courseHasTheRateOfEachPart() {
    Window second =
        new Window(
            new Parameters.Span(Duration.ofSeconds(1), Duration.ofMillis(100), false), 5_000);
    long millis = 1_000_000;
    assertThat(second.course(64).seconds()).isEmpty();
    assertThat(second.look(5_000 + 9 * millis, 100)).isFalse();
    assertThat(second.look(5_000 + 20 * millis, 200)).isFalse();
    assertThat(second.look(5_000 + 29 * millis, 300)).isFalse();
    assertThat(second.look(5_000 + 70 * millis, 1200)).isFalse();
    Course course = second.course(64);
    assertThat(course.size()).isEqualTo(64);
    assertThat(course.seconds()).containsExactly(0.02, 0.07);
    assertThat(course.perSecond()).containsExactly(10_000, 20_000);
  }

  @Test
  void courseEndsAfterItsParts() {
    for (int i = 1; i <= 1000; i++) {
      boolean _ = window.look(1000 + i, i);
    }
    assertThat(window.course(1).seconds()).hasSize(100).isSorted();
  }
}
