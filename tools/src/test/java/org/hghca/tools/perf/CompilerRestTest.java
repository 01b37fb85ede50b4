package org.hghca.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Scripted compilers of two JVMs. */
class CompilerRestTest {
  private final CompilerRest rest = new CompilerRest(0, Duration.ofSeconds(10));

  private boolean isOver(long nowMillis, long... worked) {
    return rest.isOver(TimeUnit.MILLISECONDS.toNanos(nowMillis), worked);
  }

  @Test
  void restsAfterThreeQuietIntervals() {
    assertThat(isOver(0, 100, 100)).isFalse();
    assertThat(isOver(1000, 600, 100)).isFalse();
    assertThat(isOver(2000, 640, 100)).isFalse(); // 4 %
    assertThat(isOver(3000, 640, 100)).isFalse();
    assertThat(isOver(4000, 640, 100)).isTrue();
    assertThat(rest.rested()).isTrue();
  }

  @Test
  void oneCompilerThatWorksIsEnough() {
    assertThat(isOver(0, 0, 0)).isFalse();
    assertThat(isOver(1000, 0, 0)).isFalse();
    assertThat(isOver(2000, 0, 0)).isFalse();
    assertThat(isOver(3000, 0, 60)).isFalse();
    assertThat(isOver(4000, 0, 60)).isFalse();
    assertThat(isOver(5000, 0, 60)).isFalse();
    assertThat(isOver(6000, 0, 60)).isTrue();
  }

  @Test
  void looksInQuickSuccessionAreOneInterval() {
    assertThat(isOver(0, 0)).isFalse();
    for (int i = 1; i < 300; i++) {
      assertThat(isOver(i, 0)).isFalse();
    }
    assertThat(isOver(300, 0)).isFalse();
    assertThat(isOver(600, 0)).isFalse();
    assertThat(isOver(900, 0)).isTrue();
  }

  @Test
  void limitEndsIt() {
    for (int second = 0; second < 10; second++) {
      assertThat(isOver(1000L * second, 900L * second)).isFalse();
    }
    assertThat(isOver(10_000, 9000)).isTrue();
    assertThat(rest.rested()).isFalse();
  }
}
