package org.hghca.vfio.dma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.hghca.vfio.MemorySource;
import org.hghca.vfio.VfioException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("long")
class PagePoolTest {
  private static final long HUGE = MemorySource.HUGE_PAGE;
  private static final long MEBIBYTE = 1 << 20;

  /** Counts its calls. */
  private static class Source implements MemorySource {
    private final long grain;
    final List<Long> asked = new ArrayList<>();
    final List<Arena> arenas = new ArrayList<>();
    final List<MemorySegment> discarded = new ArrayList<>();

    Source(long grain) {
      this.grain = grain;
    }

    @Override
    public MemorySegment allocate(Arena arena, long bytes) {
      asked.add(bytes);
      MemorySegment memory = ANONYMOUS.allocate(arena, bytes);
      arenas.add(arena);
      return memory;
    }

    @Override
    public boolean discard(MemorySegment memory) {
      discarded.add(memory);
      return ANONYMOUS.discard(memory);
    }

    /** Memory that has not been returned. */
    long held() {
      long held = 0;
      for (int i = 0; i < arenas.size(); i++) {
        held += arenas.get(i).scope().isAlive() ? asked.get(i) : 0;
      }
      return held;
    }

    @Override
    public long grain() {
      return grain;
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1, 4096",
    "4096, 4096",
    "4097, 8192",
    "12288, 16384",
    "1048577, 2097152",
    "2097153, 4194304",
    "4194305, 6291456",
    "33554433, 41943040"
  })
  void sizesAreRoundedUp(long bytes, long size) {
    Source source = new Source(4096);
    try (PagePool pool = new PagePool(source)) {
      assertThat(pool.take(bytes).byteSize()).isEqualTo(size);
      assertThat(source.asked).containsExactly(size);
    }
  }

  @Test
  void smallPiecesShareAMappingAndLargeOnesDoNot() {
    Source source = new Source(HUGE);
    try (PagePool pool = new PagePool(source)) {
      pool.take(4096);
      pool.take(HUGE / 2);
      pool.take(3 * HUGE);
      // Half of it, less the first page, is left: too little.
      pool.take(HUGE / 2);
      assertThat(source.asked).containsExactly(HUGE, 3 * HUGE, HUGE);
      // The remainder that was too small is not lost.
      pool.take(HUGE / 4);
      pool.take(HUGE / 8);
      pool.take(4096);
      assertThat(source.asked).hasSize(3);
    }
  }

  private record Taken(MemorySegment memory, long tag) {}

  @ParameterizedTest
  @CsvSource({"4096, 1", "4096, 42", "2097152, 1", "2097152, 42"})
  void memoryIsZeroedAndNotShared(long grain, long seed) {
    Random random = new Random(seed);
    try (PagePool pool = new PagePool(new Source(grain))) {
      List<Taken> live = new ArrayList<>();
      for (int step = 0; step < 2_000; step++) {
        if (live.isEmpty() || live.size() < 60 && random.nextBoolean()) {
          long bytes = 1 + (random.nextLong(1 << 22) >> random.nextInt(22));
          MemorySegment memory = pool.take(bytes);
          assertThat(memory.byteSize()).isGreaterThanOrEqualTo(bytes);
          assertThat(memory.address() % 4096).isZero();
          for (long page = 0; page < memory.byteSize(); page += 4096) {
            assertThat(memory.get(ValueLayout.JAVA_LONG, page)).isZero();
            memory.set(ValueLayout.JAVA_LONG, page, step + 1);
          }
          live.add(new Taken(memory, step + 1));
        } else {
          Taken taken = live.remove(random.nextInt(live.size()));
          for (long page = 0; page < taken.memory.byteSize(); page += 4096) {
            if (taken.memory.get(ValueLayout.JAVA_LONG, page) != taken.tag) {
              throw new AssertionError("given twice: page " + page + " of " + taken);
            }
          }
          pool.giveBack(taken.memory);
        }
      }
    }
  }

  @Test
  void largeMemoryIsReturnedAtOnce() {
    Source source = new Source(4096);
    try (PagePool pool = new PagePool(source)) {
      for (long mebibytes = 64; mebibytes <= 512; mebibytes += 64) {
        pool.giveBack(pool.take(mebibytes * MEBIBYTE));
        assertThat(source.held()).isZero();
        assertThat(pool.inUse()).isZero();
      }
      pool.giveBack(pool.take(32 * MEBIBYTE));
      assertThat(pool.kept()).isEqualTo(32 * MEBIBYTE);
      assertThat(source.held()).isEqualTo(32 * MEBIBYTE);
    }
    assertThat(source.held()).isZero();
  }

  @Test
  void smallMemoryIsReturnedBeyond32MebibytesOrAnEighth() {
    Source source = new Source(4096);
    try (PagePool pool = new PagePool(source)) {
      List<MemorySegment> taken = new ArrayList<>();
      for (int i = 0; i < 1000; i++) {
        taken.add(pool.take(256 << 10));
      }
      MemorySegment large = pool.take(512 * MEBIBYTE);
      taken.forEach(pool::giveBack);
      assertThat(pool.inUse()).isEqualTo(512 * MEBIBYTE);
      assertThat(pool.kept()).isEqualTo(64 * MEBIBYTE);
      pool.giveBack(large);
      assertThat(pool.kept()).isEqualTo(32 * MEBIBYTE);
      assertThat(source.held()).isEqualTo(32 * MEBIBYTE);
    }
  }

  @Test
  void largePieceServesSmallRequestsAndBecomesWholeAgain() {
    Source source = new Source(4096);
    try (PagePool pool = new PagePool(source)) {
      pool.giveBack(pool.take(16 * MEBIBYTE));
      List<MemorySegment> taken = new ArrayList<>();
      for (long bytes : new long[] {4096, 4 * MEBIBYTE, 100_000, HUGE, 6 * MEBIBYTE, 8192}) {
        taken.add(pool.take(bytes));
        assertThat(taken.getLast().byteSize()).isGreaterThanOrEqualTo(bytes);
      }
      assertThat(source.asked).containsExactly(16 * MEBIBYTE);
      taken.forEach(pool::giveBack);
      assertThat(pool.take(16 * MEBIBYTE).byteSize()).isEqualTo(16 * MEBIBYTE);
      assertThat(source.asked).containsExactly(16 * MEBIBYTE);
    }
  }

  /**
   * Part of a large piece is in use: the pages of the rest are returned, and read as zero later.
   */
  @ParameterizedTest
  @ValueSource(longs = {4096, HUGE})
  void pagesOfFreePartsAreReturned(long grain) {
    Source source = new Source(grain);
    try (PagePool pool = new PagePool(source)) {
      MemorySegment large = pool.take(512 * MEBIBYTE);
      MemorySegment medium = pool.take(60 * MEBIBYTE);
      medium.fill((byte) 1);
      pool.giveBack(medium);
      assertThat(pool.kept()).isEqualTo(64 * MEBIBYTE);
      MemorySegment little = pool.take(4096);
      little.fill((byte) 2);
      pool.giveBack(large);
      assertThat(pool.inUse()).isEqualTo(4096);
      assertThat(pool.kept()).isLessThanOrEqualTo(32 * MEBIBYTE);
      assertThat(source.discarded).hasSize(1);
      MemorySegment again = pool.take(60 * MEBIBYTE - 4096);
      for (long at = 0; at < again.byteSize(); at += 4096) {
        assertThat(again.get(ValueLayout.JAVA_LONG, at)).isZero();
      }
      assertThat(little.get(ValueLayout.JAVA_BYTE, 4095)).isEqualTo((byte) 2);
    }
  }

  @Test
  void keptMemoryIsReturnedBeforeAllocationFails() {
    Source source =
        new Source(4096) {
          @Override
          public MemorySegment allocate(Arena arena, long bytes) {
            if (held() + bytes > 32 * MEBIBYTE) {
              throw VfioException.outOfMemory(bytes, null);
            }
            return super.allocate(arena, bytes);
          }
        };
    try (PagePool pool = new PagePool(source)) {
      pool.giveBack(pool.take(20 * MEBIBYTE));
      assertThat(pool.take(24 * MEBIBYTE).byteSize()).isEqualTo(24 * MEBIBYTE);
      assertThatThrownBy(() -> pool.take(24 * MEBIBYTE)).isInstanceOf(VfioException.class);
      assertThat(pool.take(8 * MEBIBYTE).byteSize()).isEqualTo(8 * MEBIBYTE);
    }
  }

  @ParameterizedTest
  @CsvSource({"4096, 7", "2097152, 7", "4096, 8"})
  void memoryKeptIsBoundedForAnySequence(long grain, long seed) {
    Random random = new Random(seed);
    try (PagePool pool = new PagePool(new Source(grain))) {
      List<MemorySegment> live = new ArrayList<>();
      for (int step = 0; step < 1_200; step++) {
        if (live.isEmpty() || live.size() < 300 && random.nextInt(5) < 3) {
          live.add(pool.take(1 + (random.nextLong(1 << 24) >> random.nextInt(24))));
        } else {
          pool.giveBack(live.remove(random.nextInt(live.size())));
        }
        long inUse = live.stream().mapToLong(MemorySegment::byteSize).sum();
        assertThat(pool.inUse()).isEqualTo(inUse);
        if (step % 2 == 0) {
          pool.giveBack(pool.take(1));
          assertThat(pool.kept()).isLessThanOrEqualTo(Math.max(32 * MEBIBYTE, inUse / 8));
        }
      }
      live.forEach(pool::giveBack);
      assertThat(pool.inUse()).isZero();
      assertThat(pool.kept()).isLessThanOrEqualTo(32 * MEBIBYTE);
    }
  }
}
