package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class EventTypeTest {
  @Test
  void maskOfAllEvents() {
    assertThat(EventType.ASYNC_MASK).isEqualTo(0x3033CL);
    assertThat(EventType.SRQ_MASK).isEqualTo(0x1C0000L);
    assertThat(EventType.PATH_MASK).isEqualTo(0x82L);
    assertThat(EventType.maskOf(List.of())).isZero();
    assertThat(EventType.maskOf(List.of(EventType.CQ_ERROR, EventType.COMM_EST))).isEqualTo(0x14);
  }

  @Test
  void eventsOfAMask() {
    assertThat(EventType.inMask(0x14))
        .containsExactlyInAnyOrder(EventType.COMM_EST, EventType.CQ_ERROR);
    assertThat(EventType.inMask(-1)).hasSize(13);
    assertThat(EventType.inMask(~0x1F03BEL)).isEmpty();
    assertThat(EventType.of(0x09)).contains(EventType.PORT_CHANGE);
    assertThat(EventType.of(0x06)).isEmpty();
    assertThat(EventType.of(0x00)).isEmpty();
    assertThat(EventType.of(0x0A)).isEmpty();
  }

  @Test
  void mapEqPutsUnmapIntoTheTopBit() {
    assertThat(MapEq.inModifier(false, 5)).isEqualTo(5);
    assertThat(MapEq.inModifier(true, 5)).isEqualTo(0x80000005);
    assertThat(MapEq.isUnmap(0x80000005)).isTrue();
    assertThat(MapEq.isUnmap(0x7FFFFFFF)).isFalse();
    assertThat(MapEq.eqn(0x80000005)).isEqualTo(5);
    assertThatIllegalArgumentException().isThrownBy(() -> MapEq.inModifier(false, 0x80000000));
  }
}
