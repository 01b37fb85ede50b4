package org.hghca.sockets.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SlotWindowTest {
  private final SlotWindow window = new SlotWindow(5, 100 + SlotWindow.HEADER);

  private void readAll() {
    window.read(window.contiguous());
    window.free();
  }

  @Test
  void messagesAreReadInTheOrderOfTheirArrivalWhateverTheirSlots() {
    assertThat(window.hasSlot()).isFalse();
    assertThat(window.arrived(3, 100)).isTrue();
    assertThat(window.arrived(0, 7)).isTrue();
    assertThat(window.available()).isEqualTo(107);
    assertThat(window.slot()).isEqualTo(3);
    window.read(60);
    assertThat(window.offset()).isEqualTo(60);
    assertThat(window.contiguous()).isEqualTo(40);
    assertThat(window.available()).isEqualTo(47);
    readAll();
    assertThat(window.slot()).isZero();
    assertThat(window.offset()).isZero();
    assertThat(window.contiguous()).isEqualTo(7);
    readAll();
    assertThat(window.hasSlot()).isFalse();
    assertThat(window.available()).isZero();
  }

  @Test
  void refusesWhatHasNoCreditAndWhatASlotCannotHold() {
    assertThat(window.arrived(0, 0)).isFalse();
    assertThat(window.arrived(0, -1)).isFalse();
    assertThat(window.arrived(0, 101)).isFalse();
    for (int i = 0; i < 5; i++) {
      assertThat(window.arrived(i, 1)).isTrue();
    }
    assertThat(window.arrived(5, 1)).isFalse();
    readAll();
    assertThat(window.arrived(5, 1)).as("the peer was not told of the free slot").isFalse();
    assertThat(window.tellLimit()).isEqualTo(6);
    assertThat(window.arrived(0, 1)).isTrue();
  }

  @Test
  void aLimitIsDueWhenHalfOfTheSlotsAreFree() {
    for (int i = 0; i < 2; i++) {
      assertThat(window.isLimitDue()).isFalse();
      assertThat(window.arrived(i, 1)).isTrue();
      readAll();
    }
    assertThat(window.isLimitDue()).isTrue();
    assertThat(window.isHalfDue()).isFalse();
    assertThat(window.tellLimit()).isEqualTo(7);
    assertThat(window.isLimitDue()).isFalse();
  }

  @Test
  void countsMessagesModulo65536() {
    for (int i = 0; i < 70_000; i++) {
      assertThat(window.arrived(i % 5, 1 + i % 100)).isTrue();
      assertThat(window.slot()).isEqualTo(i % 5);
      assertThat(window.contiguous()).isEqualTo(1 + i % 100);
      readAll();
      if (window.isLimitDue()) {
        assertThat(window.tellLimit()).isEqualTo(i + 1 + 5 & 0xffff);
      }
    }
  }
}
