package org.hghca.vfio;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

/** What a window copies, at every length and alignment around a word. */
class DmaWindowTest {
  private static final long IOVA = 0x7000;
  private static final int SIZE = 96;
  private static final byte UNTOUCHED = 0x55;

  private final MemorySegment content = MemorySegment.ofArray(new byte[SIZE]);

  DmaWindowTest() {
    for (int i = 0; i < SIZE; i++) {
      content.set(ValueLayout.JAVA_BYTE, i, (byte) (i + 100));
    }
  }

  @Test
  void writeStoresItsBytesAndNoOthersInMemoryOfTheSystem() {
    try (Arena arena = Arena.ofConfined()) {
      assertWritesExactly(arena.allocate(SIZE, 64));
    }
  }

  /** Such memory has no alignment beyond a byte. */
  @Test
  void writeStoresItsBytesAndNoOthersInAnArray() {
    assertWritesExactly(MemorySegment.ofArray(new byte[SIZE]));
  }

  private void assertWritesExactly(MemorySegment memory) {
    DmaWindow window = new DmaWindow(IOVA, memory, DmaAccess.READ_WRITE);
    for (int length = 1; length <= 40; length++) {
      for (int at = 0; at < 17; at++) {
        for (int offset = 0; offset < 9; offset++) {
          memory.fill(UNTOUCHED);
          window.write(IOVA + at, content, offset, length);
          assertThat(memory.asSlice(at, length).mismatch(content.asSlice(offset, length)))
              .as("%d bytes from %d to %d", length, offset, at)
              .isEqualTo(-1);
          assertThat(rest(memory, at, length)).as("around %d bytes at %d", length, at).isTrue();
        }
      }
    }
  }

  private static boolean rest(MemorySegment memory, int at, int length) {
    boolean untouched = true;
    for (int i = 0; i < SIZE; i++) {
      boolean written = i >= at && i < at + length;
      untouched &= written || memory.get(ValueLayout.JAVA_BYTE, i) == UNTOUCHED;
    }
    return untouched;
  }
}
