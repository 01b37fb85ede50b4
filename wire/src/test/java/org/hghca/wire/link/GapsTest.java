package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** When to look for what comes next. */
class GapsTest {
  private static final long MICRO = 1000;

  private long now = 77;

  private void come(Gaps gaps, int times, long gap) {
    for (int i = 0; i < times; i++) {
      now += gap;
      gaps.arrived(now);
      now += 5 * MICRO; // to take it
      gaps.taken(now);
    }
  }

  @Test
  void firstIsNotWaitedFor() {
    Gaps gaps = new Gaps(2, now);
    assertThat(gaps.until()).isEqualTo(now);
    come(gaps, 1, 0);
    assertThat(gaps.until()).isEqualTo(now);
  }

  @Test
  void whatFlowsIsWaitedForTwiceItsGap() {
    Gaps gaps = new Gaps(2, now);
    come(gaps, 100, 3 * MICRO);
    assertThat(gaps.until() - now).isBetween(5 * MICRO, 7 * MICRO);
  }

  @Test
  void whatRestsIsNot() {
    Gaps gaps = new Gaps(2, now);
    come(gaps, 100, 100 * MICRO);
    assertThat(gaps.until()).isEqualTo(now);
  }

  /** One rest ends the looking, however long it is, and few packets begin it again. */
  @Test
  void oneRestIsSoonForgotten() {
    Gaps gaps = new Gaps(2, now);
    come(gaps, 100, MICRO);
    come(gaps, 1, 10_000_000 * MICRO);
    assertThat(gaps.until()).isEqualTo(now);
    come(gaps, 4, MICRO);
    assertThat(gaps.until()).isGreaterThan(now);
  }

  @Test
  void oneProcessorIsLeftToTheSender() {
    Gaps gaps = new Gaps(1, now);
    come(gaps, 100, 3 * MICRO);
    assertThat(gaps.until()).isEqualTo(now);
  }
}
