package org.hghca.vfio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a window copies, at every length and alignment around a word. */
class DmaWindowTest {
  private static final long IOVA = 0x7000;
  private static final int SIZE = 96;
  private static final byte UNTOUCHED = 0x55;
  private static final int STORES = 5_000_000;
  private static final VarHandle SHORT =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
  private static final VarHandle INT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
  private static final VarHandle LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

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

  @Test
  void twoBytesAreALittleEndianNumberAtAnyAddress() {
    MemorySegment memory = MemorySegment.ofArray(new byte[] {1, 2, -1, -2, 5});
    DmaWindow window = new DmaWindow(IOVA, memory, DmaAccess.READ);
    assertThat(window.readShort(IOVA)).isEqualTo(0x0201);
    assertThat(window.readShort(IOVA + 1)).isEqualTo(0xff02);
    assertThat(window.readShort(IOVA + 2)).isEqualTo(0xfeff);
    assertThatThrownBy(() -> window.readShort(IOVA + 4))
        .isInstanceOf(IndexOutOfBoundsException.class);
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

  /** An index that runs from ffh to 100h is never seen as 0 or 1ffh. */
  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8})
  void numbersAreStoredAtOnce(int width) throws Exception {
    long low = -1L >>> 64 - 4 * width;
    MemorySegment numbers = MemorySegment.ofArray(new byte[32]);
    numbers.set(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), 0, low);
    numbers.set(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), 16, low + 1);
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(64, 64);
      DmaWindow window = new DmaWindow(IOVA, memory, DmaAccess.READ_WRITE);
      window.write(IOVA + width, numbers, 0, width);
      AtomicBoolean done = new AtomicBoolean();
      Thread writer =
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int i = 0; i < STORES; i++) {
                      window.write(IOVA + width, numbers, 16 - 16 * (i & 1), width);
                    }
                    done.set(true);
                  });
      while (!done.get()) {
        long seen = number(memory, width);
        assertThat(seen == low || seen == low + 1).as("0x%x of 0x%x", seen, low).isTrue();
      }
      writer.join();
    }
  }

  private static long number(MemorySegment memory, int width) {
    return switch (width) {
      case 2 -> (short) SHORT.getOpaque(memory, (long) width) & 0xffffL;
      case 4 -> (int) INT.getOpaque(memory, (long) width) & 0xffff_ffffL;
      default -> (long) LONG.getOpaque(memory, (long) width);
    };
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
