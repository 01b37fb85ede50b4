package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class EventTypeTest {
  @Test
  void codesOfTheTable() {
    assertThat(EventType.PATH_MIG.code()).isEqualTo(0x01);
    assertThat(EventType.PATH_MIG_FAILED.code()).isEqualTo(0x07);
    assertThat(EventType.COMM_EST.code()).isEqualTo(0x02);
    assertThat(EventType.SQ_DRAINED.code()).isEqualTo(0x03);
    assertThat(EventType.CQ_ERROR.code()).isEqualTo(0x04);
    assertThat(EventType.WQ_CATAS_ERROR.code()).isEqualTo(0x05);
    assertThat(EventType.LOCAL_CATAS_ERROR.code()).isEqualTo(0x08);
    assertThat(EventType.PORT_CHANGE.code()).isEqualTo(0x09);
    assertThat(EventType.WQ_INVAL_REQ_ERROR.code()).isEqualTo(0x10);
    assertThat(EventType.WQ_ACCESS_ERROR.code()).isEqualTo(0x11);
    assertThat(EventType.SRQ_CATAS_ERROR.code()).isEqualTo(0x12);
    assertThat(EventType.SRQ_QP_LAST_WQE.code()).isEqualTo(0x13);
    assertThat(EventType.SRQ_LIMIT.code()).isEqualTo(0x14);
    assertThat(EventType.WQ_ACCESS_ERROR.symbol()).isEqualTo("HGHCA_EVENT_TYPE_WQ_ACCESS_ERROR");
  }

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
