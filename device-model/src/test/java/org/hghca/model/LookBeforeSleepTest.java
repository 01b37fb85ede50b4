package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LookBeforeSleepTest {
  private final LookBeforeSleep looking = LookBeforeSleep.spinning(2);

  private int skipped() {
    int skipped = 0;
    while (!looking.looks()) {
      skipped++;
    }
    return skipped;
  }

  @Test
  void looksAsLongAsThatFindsSomething() {
    for (int i = 0; i < 100; i++) {
      assertThat(looking.looks()).isTrue();
      looking.found();
    }
  }

  @Test
  void neverLooksOnOneProcessor() {
    assertThat(LookBeforeSleep.spinning(1).looks()).isFalse();
  }

  @Test
  void looksLessAndLessOftenWhereItFindsNothing() {
    for (int expected = 1; expected <= LookBeforeSleep.MOST_SKIPPED; expected *= 2) {
      looking.missed();
      assertThat(skipped()).isEqualTo(expected);
    }
    looking.missed();
    assertThat(skipped()).isEqualTo(LookBeforeSleep.MOST_SKIPPED);
    looking.found();
    looking.missed();
    assertThat(skipped()).as("after it has found something").isEqualTo(1);
  }
}
