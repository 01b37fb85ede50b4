package org.hghca.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.hghca.linux.LibraryCopy;
import org.hghca.wire.MemoryPieces.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bytes in pieces, whoever copies them. */
class MemoryPiecesTest {
  private static final int AREA = 1 << 18;
  private static final int ROUNDS = 300;

  private final Random random = new Random(7);

  private static MemorySegment area() {
    return Arena.ofAuto().allocate(AREA);
  }

  private MemorySegment filled() {
    MemorySegment memory = area();
    for (long i = 0; i < AREA; i += Long.BYTES) {
      memory.set(ValueLayout.JAVA_LONG, i, random.nextLong());
    }
    return memory;
  }

  /** Cuts bytes into pieces that lie one behind the other, with gaps. */
  private MemoryPieces cut(MemorySegment area, int bytes, byte[] content, Kind kind) {
    MemoryPieces pieces = new MemoryPieces();
    long at = 0;
    for (int done = 0; done < bytes; ) {
      int size = Math.min(bytes - done, 1 + random.nextInt(3 * LibraryCopy.LEAST));
      at += random.nextInt(100);
      MemorySegment.copy(area, ValueLayout.JAVA_BYTE, at, content, done, size);
      pieces.add(area, at, size, kind);
      at += size;
      done += size;
    }
    return pieces;
  }

  /** Each byte gets where it belongs, and no other is changed. */
  @ParameterizedTest
  @EnumSource(Kind.class)
  void copiesAreExactWhateverTheMemory(Kind kind) {
    MemorySegment from = filled();
    for (int round = 0; round < ROUNDS; round++) {
      Kind other = Kind.values()[round % Kind.values().length];
      int bytes = 1 + random.nextInt(AREA / 4);
      byte[] content = new byte[bytes];
      MemoryPieces source = cut(from, bytes, content, kind);
      MemorySegment to = filled();
      MemorySegment expected = area().copyFrom(to);
      MemoryPieces target = new MemoryPieces();
      long at = 0;
      for (int done = 0; done < bytes; ) {
        int size = Math.min(bytes - done, 1 + random.nextInt(3 * LibraryCopy.LEAST));
        at += random.nextInt(100);
        target.add(to, at, size, other);
        MemorySegment.copy(content, done, expected, ValueLayout.JAVA_BYTE, at, size);
        at += size;
        done += size;
      }
      source.copyTo(target);
      assertThat(to.mismatch(expected)).as("round %d", round).isEqualTo(-1);
    }
  }

  /** What may end is copied by what finds that out. */
  @ParameterizedTest
  @EnumSource(Kind.class)
  void memoryWhoseArenaIsClosedIsNotRead(Kind other) {
    MemoryPieces source = new MemoryPieces();
    try (Arena arena = Arena.ofConfined()) {
      source.add(arena.allocate(AREA), 0, AREA, Kind.MAY_END);
    }
    MemoryPieces target = new MemoryPieces();
    target.add(area(), 0, AREA, other);
    assertThatThrownBy(() -> source.copyTo(target)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void libraryCopiesAllBytes() {
    MemorySegment from = filled();
    MemorySegment to = area();
    assertThat(LibraryCopy.copy(from, 1, to, 2, AREA - 3)).isTrue();
    assertThat(MemorySegment.mismatch(from, 1, AREA - 2, to, 2, AREA - 1)).isEqualTo(-1);
    assertThat(to.get(ValueLayout.JAVA_BYTE, 1)).isZero();
    assertThat(to.get(ValueLayout.JAVA_BYTE, AREA - 1)).isZero();
  }
}
