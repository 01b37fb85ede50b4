package org.hghca.programs.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Beside the figures of SciPy: {@code scipy.stats.t.ppf} and {@code scipy.stats.ttest_ind}. */
class WelchTest {
  @ParameterizedTest
  @CsvSource({
    "1, 0.95, 12.706204736",
    "4, 0.95, 2.776445105",
    "10, 0.99, 3.169272673",
    "30, 0.95, 2.042272456",
    "2.5, 0.9, 2.558218614",
    "1000, 0.95, 1.962339081"
  })
  void quantiles(double freedom, double share, double expected) {
    assertThat(Welch.quantile(freedom, share)).isCloseTo(expected, within(1e-6));
  }

  @Test
  void interval() {
    Welch.Interval interval =
        Welch.interval(List.of(100.0, 104.0, 98.0, 102.0), List.of(110.0, 109.0, 115.0), 0.95)
            .orElseThrow();
    assertThat(interval.low()).isCloseTo(3.930436264, within(1e-6));
    assertThat(interval.high()).isCloseTo(16.736230403, within(1e-6));
  }

  @Test
  void equalValuesHaveAnIntervalWithoutWidth() {
    assertThat(Welch.interval(List.of(1.0, 1.0), List.of(2.0, 2.0), 0.95))
        .contains(new Welch.Interval(1, 1));
  }

  @Test
  void oneValueHasNone() {
    assertThat(Welch.interval(List.of(1.0), List.of(2.0, 3.0), 0.95)).isEmpty();
  }
}
