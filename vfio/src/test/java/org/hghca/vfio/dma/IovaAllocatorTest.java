package org.hghca.vfio.dma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IovaAllocatorTest {

  private static IovaAllocator space(long first, long end) {
    return new IovaAllocator(List.of(new IovaRange(first, end - 1)));
  }

  @Test
  void nothingBelow64KiBIsHandedOut() {
    IovaAllocator addresses = space(0, 1L << 32);

    assertThat(addresses.allocate(1)).isEqualTo(0x1_0000);
    assertThat(addresses.allocate(1)).isEqualTo(0x1_1000);
  }

  @Test
  void boundsAreRoundedInwardToPages() {
    IovaAllocator addresses = space(0x10_0001, 0x10_3fff);

    assertThat(addresses.allocate(1)).isEqualTo(0x10_1000);
    assertThat(addresses.allocate(1)).isEqualTo(0x10_2000);
    assertThatThrownBy(() -> addresses.allocate(1)).isInstanceOf(VfioException.class);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 4095, 4096})
  void upToAPageTakesAPage(long bytes) {
    IovaAllocator addresses = space(0x10_0000, 0x20_0000);

    assertThat(addresses.allocate(bytes)).isEqualTo(0x10_0000);
    assertThat(addresses.allocate(1)).isEqualTo(0x10_1000);
  }

  @Test
  void oneByteMoreThanAPageTakesTwo() {
    IovaAllocator addresses = space(0x10_0000, 0x20_0000);

    addresses.allocate(4097);

    assertThat(addresses.allocate(1)).isEqualTo(0x10_2000);
  }

  @Test
  void addressesBeyond32BitsAreUsed() {
    IovaAllocator addresses = space(0x10_0000, 1L << 48);

    assertThat(addresses.allocate(1L << 40)).isEqualTo(0x10_0000);
    assertThat(addresses.allocate(1)).isEqualTo((1L << 40) + 0x10_0000);
  }

  @Test
  void freedRangeIsTheNextHandedOut() {
    IovaAllocator addresses = space(0x10_0000, 0x20_0000);
    long first = addresses.allocate(0x1000);
    addresses.allocate(0x1000);

    addresses.free(first);

    assertThat(addresses.allocate(0x1000)).isEqualTo(first);
    assertThat(addresses.inUse()).isEqualTo(2);
  }

  @Test
  void neighboursThatAreFreedJoin() {
    // Freed in the order middle, left, right: joins upward, then on both sides.
    IovaAllocator addresses = space(0x10_0000, 0x10_3000);
    long left = addresses.allocate(0x1000);
    long middle = addresses.allocate(0x1000);
    long right = addresses.allocate(0x1000);
    addresses.free(left);
    addresses.free(right);
    assertThatThrownBy(() -> addresses.allocate(0x2000)).isInstanceOf(VfioException.class);

    addresses.free(middle);

    assertThat(addresses.allocate(0x3000)).isEqualTo(0x10_0000);
  }

  @Test
  void exhaustionSaysWhatWasAskedAndHowManyAreInUse() {
    IovaAllocator addresses = space(0x10_0000, 0x10_2000);
    long first = addresses.allocate(0x1000);

    assertThatThrownBy(() -> addresses.allocate(0x2000))
        .isInstanceOfSatisfying(
            VfioException.class, e -> assertThat(e.reason()).isEqualTo(Reason.NO_MEMORY))
        .hasMessageContainingAll("8192 bytes", "1 ranges are in use");
    addresses.free(first);
    assertThat(addresses.allocate(0x2000)).isEqualTo(0x10_0000);
  }

  @Test
  void lengthThatCannotBeRoundedUpIsExhaustionToo() {
    IovaAllocator addresses = space(0, 1L << 48);

    assertThatThrownBy(() -> addresses.allocate(Long.MAX_VALUE))
        .isInstanceOfSatisfying(
            VfioException.class, e -> assertThat(e.reason()).isEqualTo(Reason.NO_MEMORY));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE})
  void lengthMustBePositive(long bytes) {
    IovaAllocator addresses = space(0, 1L << 48);

    assertThatThrownBy(() -> addresses.allocate(bytes))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(addresses.inUse()).isZero();
  }

  @Test
  void onlyWhatIsInUseCanBeFreed() {
    IovaAllocator addresses = space(0x10_0000, 0x20_0000);
    long start = addresses.allocate(0x2000);

    assertThatThrownBy(() -> addresses.free(start + 0x1000))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0x101000");
    addresses.free(start);
    assertThatThrownBy(() -> addresses.free(start)).isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 42, 0x5eed})
  void randomUseNeverOverlapsAndLosesNothing(long seed) {
    Random random = new Random(seed);
    long first = 0x10_0000;
    long end = first + 256 * 0x1000;
    IovaAllocator addresses = space(first, end);
    TreeMap<Long, Long> model = new TreeMap<>();
    for (int step = 0; step < 5_000; step++) {
      String where = "seed %d step %d".formatted(seed, step);
      if (model.isEmpty() || random.nextInt(100) < 55) {
        long bytes = 1L + random.nextInt(20 * 0x1000);
        long size = (bytes + 0xfff) / 0x1000 * 0x1000;
        long expected = lowestGap(model, first, end, size);
        if (expected < 0) {
          assertThatThrownBy(() -> addresses.allocate(bytes)).isInstanceOf(VfioException.class);
        } else {
          // Lowest first, against gaps found by brute force: in bounds, aligned, no overlap.
          assertThat(addresses.allocate(bytes)).as(where).isEqualTo(expected);
          model.put(expected, size);
        }
      } else {
        List<Long> starts = new ArrayList<>(model.keySet());
        long start = starts.get(random.nextInt(starts.size()));
        model.remove(start);
        addresses.free(start);
      }
      assertThat(addresses.inUse()).as(where).isEqualTo(model.size());
    }
    for (long start : List.copyOf(model.keySet())) {
      addresses.free(start);
    }
    assertThat(addresses.allocate(end - first)).isEqualTo(first);
  }

  private static long lowestGap(SortedMap<Long, Long> used, long first, long end, long size) {
    long at = first;
    for (Map.Entry<Long, Long> range : used.entrySet()) {
      if (range.getKey() - at >= size) {
        return at;
      }
      at = range.getKey() + range.getValue();
    }
    return end - at >= size ? at : -1;
  }

  @Test
  void threadsNeverGetTheSameRange() throws Exception {
    int threads = 4;
    int perThread = 5_000;
    IovaAllocator addresses = space(0, 1L << 40);
    CyclicBarrier start = new CyclicBarrier(threads);
    Callable<List<Long>> work =
        () -> {
          start.await();
          List<Long> kept = new ArrayList<>();
          for (int i = 0; i < perThread; i++) {
            long passing = addresses.allocate(0x1000);
            kept.add(addresses.allocate(0x2000));
            addresses.free(passing);
          }
          return kept;
        };
    List<Long> all = new ArrayList<>();
    try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
      List<Future<List<Long>>> results = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        results.add(executor.submit(work));
      }
      for (Future<List<Long>> result : results) {
        all.addAll(result.get());
      }
    }

    all.sort(null);
    assertThat(addresses.inUse()).isEqualTo(threads * perThread);
    for (int i = 1; i < all.size(); i++) {
      assertThat(all.get(i) - all.get(i - 1)).isGreaterThanOrEqualTo(0x2000);
    }
  }
}
