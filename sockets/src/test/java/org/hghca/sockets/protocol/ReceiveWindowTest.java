package org.hghca.sockets.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReceiveWindowTest {
  private final ReceiveWindow window = new ReceiveWindow(100, 8);

  private void arriveAndRead(int bytes) {
    assertThat(window.arrived(bytes)).isTrue();
    window.read(bytes);
  }

  @Test
  void offersWhatHasArrivedInOnePiece() {
    assertThat(window.arrived(60)).isTrue();
    assertThat(window.arrived(40)).isTrue();
    assertThat(window.available()).isEqualTo(100);
    window.read(60);
    assertThat(window.offset()).isEqualTo(60);
    assertThat(window.contiguous()).isEqualTo(40);
  }

  @Test
  void goesRoundAtTheEndOfTheBuffer() {
    arriveAndRead(100);
    window.grantHalf();
    assertThat(window.arrived(90)).isTrue();
    window.read(80);
    assertThat(window.arrived(10)).isTrue();
    assertThat(window.arrived(50)).isTrue();
    assertThat(window.available()).isEqualTo(70);
    assertThat(window.contiguous()).as("to the end of the buffer").isEqualTo(20);
    window.read(20);
    assertThat(window.offset()).isZero();
    assertThat(window.contiguous()).isEqualTo(50);
  }

  @Test
  void aHalfIsDueWhenAllOfItWasRead() {
    assertThat(window.arrived(100)).isTrue();
    window.read(99);
    assertThat(window.isHalfDue()).isFalse();
    window.read(1);
    assertThat(window.isHalfDue()).isTrue();
    window.grantHalf();
    assertThat(window.isHalfDue()).isFalse();
  }

  @Test
  void refusesBytesForWhichThereIsNoRoom() {
    assertThat(window.arrived(100)).isTrue();
    assertThat(window.arrived(100)).isTrue();
    assertThat(window.arrived(1)).as("both halves are full").isFalse();
    window.read(100);
    assertThat(window.arrived(1)).as("the half was not granted").isFalse();
    window.grantHalf();
    assertThat(window.arrived(1)).isTrue();
  }

  @Test
  void refusesAMessageOverTwoHalvesAndOneWithoutBytes() {
    assertThat(window.arrived(101)).isFalse();
    assertThat(window.arrived(0)).isFalse();
    assertThat(window.arrived(-1)).isFalse();
    assertThat(window.arrived(MessageWord.MAX_BYTES)).isFalse();
    assertThat(window.available()).isZero();
  }

  @Test
  void aLimitIsDueWhenHalfOfTheCreditsAreUsed() {
    for (int i = 1; i <= 3; i++) {
      arriveAndRead(1);
      assertThat(window.isLimitDue()).as("after %d messages", i).isFalse();
    }
    arriveAndRead(1);
    assertThat(window.isLimitDue()).isTrue();
    assertThat(window.tellLimit()).isEqualTo(4 + 8);
    assertThat(window.isLimitDue()).isFalse();
  }

  @Test
  void messagesCountAsReadOnlyWhenTheirBytesWereRead() {
    for (int i = 0; i < 8; i++) {
      assertThat(window.arrived(10)).isTrue();
    }
    window.read(79);
    assertThat(window.isLimitDue()).isFalse();
    window.read(1);
    assertThat(window.tellLimit()).isEqualTo(8 + 8);
  }

  /** The reader is never quite there, as with a sender that is faster. */
  @Test
  void messagesCountAsReadThoughMoreHasArrivedMeanwhile() {
    assertThat(window.arrived(10)).isTrue();
    for (int i = 0; i < 8; i++) {
      assertThat(window.arrived(10)).isTrue();
      window.read(10);
    }
    assertThat(window.available()).isPositive();
    assertThat(window.isLimitDue()).isTrue();
  }

  @Test
  void messagesAreCountedModuloTwoToTheSixteenth() {
    ReceiveWindow large = new ReceiveWindow(1 << 20, 8);
    for (int i = 0; i < 65_534; i++) {
      assertThat(large.arrived(1)).isTrue();
      large.read(1);
    }
    assertThat(large.tellLimit()).isEqualTo(6);
    for (int i = 0; i < 4; i++) {
      assertThat(large.isLimitDue()).isFalse();
      assertThat(large.arrived(1)).isTrue();
      large.read(1);
    }
    assertThat(large.isLimitDue()).isTrue();
    assertThat(large.tellLimit()).as("65538 + 8").isEqualTo(10);
  }
}
