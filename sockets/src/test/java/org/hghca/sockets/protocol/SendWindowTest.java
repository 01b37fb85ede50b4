package org.hghca.sockets.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SendWindowTest {
  private static final int DEPTH = 20;
  private static final int RING = 1000;

  private final SendWindow window = new SendWindow(DEPTH, RING);

  @Test
  void sendsAsManyMessagesAsThePeerGivesCredits() {
    window.open(3);
    for (int i = 0; i < 3; i++) {
      assertThat(window.hasCredit()).isTrue();
      window.send(0);
    }
    assertThat(window.hasCredit()).isFalse();
    window.allowed(4, false);
    assertThat(window.hasCredit()).isTrue();
  }

  @Test
  void aLimitThatCameBeforeThePeerWasKnownStays() {
    window.allowed(11, true);
    window.open(3);
    for (int i = 0; i < 11; i++) {
      window.send(0);
    }
    assertThat(window.hasCredit()).isFalse();
    assertThat(window.hasHalf()).isTrue();
  }

  @Test
  void creditsWrapAroundAfterSixteenBits() {
    window.open(0xffff);
    for (int i = 0; i < 0xffff; i++) {
      window.send(0);
      window.completed(window.stamp());
    }
    assertThat(window.hasCredit()).isFalse();
    window.allowed(1, false);
    window.send(0);
    assertThat(window.hasCredit()).as("one of two is left").isTrue();
    window.send(0);
    assertThat(window.hasCredit()).isFalse();
  }

  @Test
  void halvesAreTakenInTurnFromTheSecondEntryOn() {
    window.open(9);
    assertThat(window.hasHalf()).isFalse();
    for (int i = 1; i < 200_000; i++) {
      window.allowed(9, true);
      assertThat(window.hasHalf()).isTrue();
      assertThat(window.takeHalf()).isEqualTo(i & 1);
      assertThat(window.hasHalf()).isFalse();
    }
  }

  @Test
  void leavesPlacesOfTheQueueToControlMessages() {
    window.open(1000);
    for (int i = 0; i < DEPTH - SendWindow.CONTROLS; i++) {
      assertThat(window.hasCredit()).isTrue();
      window.send(0);
    }
    assertThat(window.hasCredit()).isFalse();
    for (int i = 0; i < SendWindow.CONTROLS; i++) {
      assertThat(window.hasControl()).isTrue();
      window.sendControl();
    }
    assertThat(window.outstanding()).isEqualTo(DEPTH);
  }

  @Test
  void fourControlMessagesAreUnderWayAtMost() {
    window.open(0xffff);
    long first = 0;
    for (int i = 0; i < SendWindow.CONTROLS; i++) {
      assertThat(window.hasControl()).isTrue();
      window.sendControl();
      first = i == 0 ? window.stamp() : first;
    }
    assertThat(window.hasControl()).isFalse();
    window.completed(first);
    assertThat(window.hasControl()).as("one is done").isTrue();
    window.sendControl();
    assertThat(window.hasControl()).isFalse();
  }

  @Test
  void controlMessagesDoNotAgeWithTheMessagesAfterThem() {
    window.open(0xffff);
    for (int i = 0; i < SendWindow.CONTROLS; i++) {
      window.sendControl();
    }
    for (int i = 0; i < 40_000; i++) {
      window.completed(window.stamp());
      window.send(0);
    }
    assertThat(window.hasControl()).isTrue();
  }

  @Test
  void theBufferIsARing() {
    window.open(1000);
    window.send(900);
    long first = window.stamp();
    assertThat(window.free()).isEqualTo(100);
    assertThat(window.offset()).isEqualTo(900);
    window.send(50);
    window.completed(first);
    assertThat(window.free()).isEqualTo(950);
    assertThat(window.contiguous()).as("to the end of the ring").isEqualTo(50);
    window.send(50);
    assertThat(window.offset()).isZero();
    assertThat(window.contiguous()).isEqualTo(900);
  }

  @Test
  void positionsWrapAroundAfterThirtyOneBits() {
    SendWindow large = new SendWindow(DEPTH, 1 << 26);
    for (int i = 0; i < 100; i++) {
      large.send(1 << 26);
      assertThat(large.free()).isZero();
      large.completed(large.stamp());
      assertThat(large.free()).isEqualTo(1 << 26);
    }
  }

  /** Else nothing would come back: neither places of the queue nor bytes of the ring. */
  @Test
  void signalsBeforeAQuarterIsHeldWithoutACompletion() {
    window.open(1000);
    int unsignaled = 0;
    while (!window.send(0)) {
      unsignaled++;
    }
    assertThat(unsignaled).isEqualTo(DEPTH / 4 - 1);
    assertThat(window.send(RING / 4)).isTrue();
    assertThat(window.send(RING / 4 - 1)).isFalse();
    assertThat(window.send(1)).isTrue();
  }

  @Test
  void allIsCompleteWhenItsLastMessageIs() {
    window.open(1000);
    window.send(10);
    long before = window.stamp();
    window.sendControl();
    long last = window.stamp();
    window.completed(before);
    assertThat(window.hasCompleted(last)).isFalse();
    window.completed(last);
    assertThat(window.hasCompleted(last)).isTrue();
    assertThat(window.outstanding()).isZero();
    assertThat(window.free()).isEqualTo(RING);
  }
}
