package org.hghca.vfio.dma;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.hghca.vfio.MemorySource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PagePoolTest {
  private static final long HUGE = MemorySource.HUGE_PAGE;

  /** Counts what it is asked for. */
  private static final class Source implements MemorySource {
    private final long grain;
    final List<Long> asked = new ArrayList<>();

    Source(long grain) {
      this.grain = grain;
    }

    @Override
    public MemorySegment allocate(Arena arena, long bytes) {
      asked.add(bytes);
      return ANONYMOUS.allocate(arena, bytes);
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
    try (Arena arena = Arena.ofConfined()) {
      assertThat(new PagePool(source, arena).take(bytes).byteSize()).isEqualTo(size);
      assertThat(source.asked).containsExactly(size);
    }
  }

  @Test
  void smallPiecesArePartsOfOneAndLargeOnesAreNot() {
    Source source = new Source(HUGE);
    try (Arena arena = Arena.ofConfined()) {
      PagePool pool = new PagePool(source, arena);
      pool.take(4096);
      pool.take(HUGE / 2);
      pool.take(3 * HUGE);
      // Half of it, less the first page, is left: too little.
      pool.take(HUGE / 2);
      assertThat(source.asked).containsExactly(HUGE, 3 * HUGE, HUGE);
      // What was too little is not lost.
      pool.take(HUGE / 4);
      pool.take(HUGE / 8);
      pool.take(4096);
      assertThat(source.asked).hasSize(3);
    }
  }

  private record Taken(MemorySegment memory, long tag) {}

  @ParameterizedTest
  @CsvSource({"4096, 1", "4096, 42", "2097152, 1", "2097152, 42"})
  void memoryIsZeroedAndNobodyElses(long grain, long seed) {
    Random random = new Random(seed);
    try (Arena arena = Arena.ofConfined()) {
      PagePool pool = new PagePool(new Source(grain), arena);
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
}
