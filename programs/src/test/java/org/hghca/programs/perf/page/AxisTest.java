package org.hghca.programs.perf.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class AxisTest {
  private static String labels(Axis axis) {
    return String.join(" ", axis.ticks().stream().map(Axis.Tick::label).toList());
  }

  @Test
  void amountsBeginAtZero() {
    Axis axis = Axis.amounts("", new double[] {300, 1234});
    assertThat(labels(axis)).isEqualTo("0 500 1000 1500");
    assertThat(axis.at(0)).isZero();
    assertThat(axis.at(750)).isEqualTo(0.5);
    assertThat(axis.at(1500)).isEqualTo(1);
  }

  @Test
  void amountsThatDifferMuchAreLogarithmic() {
    Axis axis = Axis.amounts("", new double[] {0.3, 40, 1234});
    assertThat(labels(axis)).isEqualTo("0.1 1 10 100 1000 10000");
    assertThat(axis.at(100)).isCloseTo(0.6, within(1e-9));
  }

  @Test
  void nothingAtAllHasAnAxis() {
    assertThat(labels(Axis.amounts("", new double[] {0, 0}))).isEqualTo("0 0.2 0.4 0.6 0.8 1");
    assertThat(labels(Axis.amounts("", new double[0]))).isEqualTo("0 0.2 0.4 0.6 0.8 1");
  }

  @Test
  void sizesArePowersOfTwo() {
    assertThat(labels(Axis.sizes(new double[] {2, 8 << 20})))
        .isEqualTo("2 8 32 128 512 2Ki 8Ki 32Ki 128Ki 512Ki 2Mi 8Mi");
    assertThat(labels(Axis.sizes(new double[] {64}))).isEqualTo("64 128");
    assertThat(labels(Axis.sizes(new double[] {100, 1000}))).isEqualTo("128 256 512");
  }

  @Test
  void percentilesHaveRoomForTheLongest() {
    Axis axis = Axis.percentiles(10_000);
    assertThat(labels(axis)).isEqualTo("0 % 50 % 90 % 99 % 99.9 % 99.99 %");
    assertThat(axis.at(0.99)).isCloseTo(0.5, within(1e-9));
    assertThat(labels(Axis.percentiles(1))).isEqualTo("0 %");
  }
}
