package org.hghca.driver.card;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CompletionStatusTest {
  @Test
  void syndromeIsInTheLowByte() {
    assertThat(CompletionStatus.syndrome(0x0000_0713)).isEqualTo(0x13);
    assertThat(CompletionStatus.syndrome(0x1100_0000)).as("db_cnt").isZero();
  }
}
