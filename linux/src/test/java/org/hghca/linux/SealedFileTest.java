package org.hghca.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Memory for another process, whose size is sealed. */
class SealedFileTest {
  private static final SystemCalls LINUX = Linux.system();
  private static final long BYTES = 8192;

  private final int file = SealedFile.create(LINUX, "test", BYTES);

  @AfterEach
  void close() {
    LINUX.close(file);
  }

  @Test
  void sizeCannotChange() {
    assertThat(file).isPositive();
    assertThat(SealedFile.isSealed(LINUX, file, BYTES)).isTrue();
    assertThat(LINUX.ftruncate(file, 0)).isNegative();
    assertThat(LINUX.ftruncate(file, 2 * BYTES)).isNegative();
  }

  @Test
  void anotherSizeIsSeen() {
    assertThat(SealedFile.isSealed(LINUX, file, BYTES - 4096)).isFalse();
    assertThat(SealedFile.isSealed(LINUX, file, BYTES + 4096)).isFalse();
  }

  @Test
  void fileWithoutSealsIsSeen() {
    int open = LINUX.memfdCreate("test", 0x1 | 0x2);
    LINUX.ftruncate(open, BYTES);
    assertThat(SealedFile.isSealed(LINUX, open, BYTES)).isFalse();
    LINUX.close(open);
  }

  @Test
  void otherDescriptorsAreSeen() {
    int event = LINUX.eventfd(0, 0x800);
    assertThat(SealedFile.isSealed(LINUX, event, BYTES)).isFalse();
    LINUX.close(event);
    assertThat(SealedFile.isSealed(LINUX, -1, BYTES)).isFalse();
  }

  @Test
  void twoMappingsAreTheSameMemory() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment one = SealedFile.map(LINUX, file, BYTES, true, arena);
      MemorySegment other = SealedFile.map(LINUX, file, BYTES, false, arena);
      one.set(ValueLayout.JAVA_LONG, 4096, 42);
      assertThat(other.get(ValueLayout.JAVA_LONG, 4096)).isEqualTo(42);
    }
  }

  @Test
  void secondHalfOfATwiceMappedFileIsTheFirst() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment twice = SealedFile.mapTwice(LINUX, file, BYTES, true, arena);
      assertThat(twice.byteSize()).isEqualTo(2 * BYTES);
      twice.asSlice(BYTES - 4, 8).fill((byte) 7);
      assertThat(twice.get(ValueLayout.JAVA_INT, BYTES - 4)).isEqualTo(0x07070707);
      assertThat(twice.get(ValueLayout.JAVA_INT, 0)).isEqualTo(0x07070707);
      assertThat(twice.get(ValueLayout.JAVA_INT, 4)).isZero();
    }
  }
}
