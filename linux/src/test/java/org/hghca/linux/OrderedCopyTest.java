package org.hghca.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

/** What is copied, and how much of it at once, at every length and alignment around a word. */
class OrderedCopyTest {
  private static final byte UNTOUCHED = 0x55;

  private final MemorySegment content = MemorySegment.ofArray(new byte[96]);

  OrderedCopyTest() {
    for (int i = 0; i < content.byteSize(); i++) {
      content.set(ValueLayout.JAVA_BYTE, i, (byte) (i + 100));
    }
  }

  private void assertCopiesExactly(MemorySegment memory) {
    for (int length = 1; length <= 40; length++) {
      for (int at = 0; at < 17; at++) {
        for (int offset = 0; offset < 9; offset++) {
          memory.fill(UNTOUCHED);
          OrderedCopy.copy(content, offset, memory, at, length);
          String what = "%d bytes from %d to %d".formatted(length, offset, at);
          assertThat(memory.asSlice(at, length).mismatch(content.asSlice(offset, length)))
              .as(what)
              .isEqualTo(-1);
          assertUntouched(memory.asSlice(0, at), what);
          assertUntouched(memory.asSlice(at + length), what);
        }
      }
    }
  }

  private static void assertUntouched(MemorySegment memory, String what) {
    for (byte b : memory.toArray(ValueLayout.JAVA_BYTE)) {
      assertThat(b).as(what).isEqualTo(UNTOUCHED);
    }
  }

  @Test
  void copiesItsBytesAndNoOthers() {
    try (Arena arena = Arena.ofConfined()) {
      assertCopiesExactly(arena.allocate(64, 64));
    }
    assertCopiesExactly(MemorySegment.ofArray(new byte[64]));
  }

  /** A number of 2, 4 or 8 bytes that ends the bytes at its natural alignment is one store. */
  @Test
  void numberAtTheEndIsStoredAtOnce() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(64, 64);
      for (int length = 1; length <= 40; length++) {
        for (int end = length; end <= 48; end++) {
          int width = OrderedCopy.lastWidth(memory, end, length);
          assertThat(width).isLessThanOrEqualTo(length);
          assertThat(end % width).as("aligned").isZero();
          if (width < 8 && 2 * width <= length) {
            assertThat(end % (2 * width)).as("as wide as it can be").isNotZero();
          }
        }
      }
    }
    MemorySegment array = MemorySegment.ofArray(new byte[16]);
    assertThat(OrderedCopy.lastWidth(array, 16, 16)).as("without alignment").isEqualTo(1);
  }
}
