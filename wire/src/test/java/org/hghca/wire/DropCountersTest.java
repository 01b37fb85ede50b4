package org.hghca.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class DropCountersTest {
  @Test
  void eachCauseIsCountedSeparately() {
    DropCounters drops = new DropCounters();
    assertThat(drops.byCause()).isEmpty();
    drops.count(DropCause.ICRC);
    drops.count(DropCause.STATE);
    drops.count(DropCause.ICRC);
    assertThat(drops.of(DropCause.ICRC)).isEqualTo(2);
    assertThat(drops.of(DropCause.PADDING)).isZero();
    assertThat(drops.total()).isEqualTo(3);
    assertThat(drops.byCause()).isEqualTo(Map.of(DropCause.ICRC, 2L, DropCause.STATE, 1L));
  }
}
