package org.hghca.driver.completion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.hghca.abi.Cqe;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CompletionRingTest {
  private static final int SLOTS = 8;

  private final MemorySegment memory = Arena.ofAuto().allocate((long) SLOTS * Cqe.SIZE, 64);

  /** A position is masked, so any other number would give entries beyond the memory. */
  @ParameterizedTest
  @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, 3, 6, 7})
  void numberOfSlotsIsAPowerOfTwo(int slots) {
    assertThatThrownBy(() -> new CompletionRing(Optional.empty(), 0, memory, slots, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(slots + " slots: not a power of two");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, SLOTS})
  void everyPositionIsInsideTheMemory(int slots) {
    CompletionRing ring = new CompletionRing(Optional.empty(), 0, memory, slots, 0);
    assertThat(ring.slots()).isEqualTo(slots);
    for (int at : new int[] {0, slots - 1, slots, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      assertThat(ring.offset(at)).isBetween(0L, (slots - 1L) * Cqe.SIZE);
    }
  }

  @Test
  void ringBeyondItsMemoryIsRefused() {
    assertThatThrownBy(() -> new CompletionRing(Optional.empty(), 0, memory, 2 * SLOTS, 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }
}
