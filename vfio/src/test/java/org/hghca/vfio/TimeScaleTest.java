package org.hghca.vfio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.time.Duration;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimeScaleTest {

  private static TimeScale of(String locator) {
    return TimeScale.of(Locator.parse(locator));
  }

  @Test
  void functionIsAsFastAsACardByDefault() {
    assertThat(of("model:x")).isEqualTo(TimeScale.CARD);
    assertThat(of("model:x?slow=1000").factor()).isEqualTo(1000);
  }

  @Test
  void timesOfTheCardAreScaled() {
    assertThat(of("model:x").stretch(Duration.ofSeconds(10))).isEqualTo(Duration.ofSeconds(10));
    assertThat(of("model:x?slow=1000").stretch(Duration.ofSeconds(10)))
        .isEqualTo(Duration.ofSeconds(10_000));
  }

  @Test
  void clockOfASlowFunctionIsSlow() {
    TimeScale time = of("model:x?slow=1000000");
    long before = System.nanoTime();
    long start = time.nanoTime();
    time.parkNanos(this, 5); // 5 ms of ours
    long elapsed = time.nanoTime() - start;
    long passed = System.nanoTime() - before;

    assertThat(elapsed).isBetween(0L, passed / 1_000_000 + 1);
  }

  @Test
  void clockOfACardIsTheSystems() {
    long before = System.nanoTime();
    long now = TimeScale.CARD.nanoTime();

    assertThat(now - before).isBetween(0L, System.nanoTime() - before);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "", "fast", "1.5", "1000001", "99999999999"})
  void otherValuesAreRefusedWithTheRange(String value) {
    assertReason(Reason.INVALID, () -> of("rtl:x?slow=" + value))
        .hasMessageContaining("slow=" + value + " must be a whole number from 1 to 1000000");
  }
}
