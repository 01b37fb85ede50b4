package org.hghca.vfio.dma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.testing.Racers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IovaAllocatorTest {

  private static IovaAllocator space(long first, long end) {
    return new IovaAllocator(List.of(new IovaRange(first, end - 1)));
  }

  @Test
  void nothingBelow64KiBIsAllocated() {
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
  void upToAPageUsesAPage(long bytes) {
    IovaAllocator addresses = space(0x10_0000, 0x20_0000);

    assertThat(addresses.allocate(bytes)).isEqualTo(0x10_0000);
    assertThat(addresses.allocate(1)).isEqualTo(0x10_1000);
  }

  @Test
  void oneByteMoreThanAPageUsesTwo() {
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
  void freedRangeIsAllocatedNext() {
    IovaAllocator addresses = space(0x10_0000, 0x20_0000);
    long first = addresses.allocate(0x1000);
    addresses.allocate(0x1000);

    addresses.free(first);

    assertThat(addresses.allocate(0x1000)).isEqualTo(first);
    assertThat(addresses.inUse()).isEqualTo(2);
  }

  @Test
  void freedNeighborsMerge() {
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
  void exhaustionNamesTheRequestAndTheRangesInUse() {
    IovaAllocator addresses = space(0x10_0000, 0x10_2000);
    long first = addresses.allocate(0x1000);

    assertReason(Reason.NO_MEMORY, () -> addresses.allocate(0x2000))
        .hasMessageContainingAll("8192 bytes", "1 ranges are in use");
    addresses.free(first);
    assertThat(addresses.allocate(0x2000)).isEqualTo(0x10_0000);
  }

  @Test
  void lengthThatCannotBeRoundedUpIsExhaustion() {
    IovaAllocator addresses = space(0, 1L << 48);

    assertReason(Reason.NO_MEMORY, () -> addresses.allocate(Long.MAX_VALUE));
  }

  @Test
  void adjacentRangesRemoveNothing() {
    IovaAllocator addresses = space(0x10_0000, 0x30_0000);

    addresses.restrict(
        List.of(new IovaRange(0, 0x1f_ffff), new IovaRange(0x20_0000, (1L << 39) - 1)));

    assertThat(addresses.allocate(0x20_0000)).isEqualTo(0x10_0000);
  }

  @Test
  void remainderIsDroppedWhereItDoesNotFit() {
    IovaAllocator addresses = space(0x10_0000, 0x40_0000);

    assertThat(addresses.allocate(0x20_0000, 0x20_0000, 0x30_0000)).isEqualTo(0x10_0000);
    addresses.free(0x10_0000);
    assertThat(addresses.allocate(0x20_1000, 0x20_0000, 0)).isEqualTo(0x10_0000);
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
  void onlyRangesInUseCanBeFreed() {
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

  /** Pages of a small address space, individually. */
  private static final class Oracle {
    static final int PAGES = 600;
    final boolean[] usable = new boolean[PAGES];
    final boolean[] used = new boolean[PAGES];
    final TreeMap<Integer, Integer> live = new TreeMap<>();

    /** Usable ranges, as the interface reports them. */
    List<IovaRange> ranges() {
      List<IovaRange> ranges = new ArrayList<>();
      for (int page = 0; page < PAGES; page++) {
        if (usable[page]) {
          int first = page;
          while (page < PAGES && usable[page]) {
            page++;
          }
          ranges.add(new IovaRange(first * 0x1000L, page * 0x1000L - 1));
        }
      }
      return ranges;
    }

    /** The lowest place, or -1. */
    int place(int count, int modulus, int like) {
      for (int start = 16; start + count <= PAGES; start++) {
        boolean fits = (start - like) % modulus == 0;
        for (int page = start; fits && page < start + count; page++) {
          fits = usable[page] && !used[page];
        }
        if (fits) {
          return start;
        }
      }
      return -1;
    }

    void set(int start, int count, boolean value) {
      Arrays.fill(used, start, start + count, value);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 42, 0x5eed})
  void randomUseOfSeveralRangesRespectsBoundsAndAlignment(long seed) {
    Random random = new Random(seed);
    Oracle oracle = new Oracle();
    boolean reserved = true;
    for (int page = 0; page < Oracle.PAGES; page += 1 + random.nextInt(90)) {
      reserved = !reserved;
      Arrays.fill(oracle.usable, page, Oracle.PAGES, !reserved);
    }
    IovaAllocator addresses = new IovaAllocator(oracle.ranges());
    for (int step = 0; step < 3_000; step++) {
      String where = "seed %d step %d".formatted(seed, step);
      if (step % 500 == 499) {
        // Some of the free addresses are removed.
        int first = random.nextInt(Oracle.PAGES);
        for (int page = first; page < Math.min(first + 20, Oracle.PAGES); page++) {
          oracle.usable[page] &= oracle.used[page];
        }
        addresses.restrict(oracle.ranges());
      } else if (oracle.live.isEmpty() || random.nextInt(100) < 55) {
        int count = 1 + random.nextInt(30);
        int modulus = 1 << random.nextInt(6);
        int like = random.nextInt(1000);
        int alike = oracle.place(count, modulus, like);
        int place = alike < 0 ? oracle.place(count, 1, 0) : alike;
        long bytes = (count - 1) * 0x1000L + 1 + random.nextInt(0x1000);
        if (place < 0) {
          assertThatThrownBy(() -> addresses.allocate(bytes, modulus * 0x1000L, like * 0x1000L))
              .as(where)
              .isInstanceOf(VfioException.class);
        } else {
          assertThat(addresses.allocate(bytes, modulus * 0x1000L, like * 0x1000L))
              .as(where)
              .isEqualTo(place * 0x1000L);
          oracle.set(place, count, true);
          oracle.live.put(place, count);
        }
      } else {
        List<Integer> starts = List.copyOf(oracle.live.keySet());
        int start = starts.get(random.nextInt(starts.size()));
        oracle.set(start, oracle.live.remove(start), false);
        addresses.free(start * 0x1000L);
      }
      assertThat(addresses.inUse()).as(where).isEqualTo(oracle.live.size());
    }
  }

  @Test
  void spaceWithoutUsableAddressesHasNone() {
    for (List<IovaRange> ranges :
        List.of(
            List.<IovaRange>of(),
            List.of(new IovaRange(0, 0xffff)),
            List.of(new IovaRange(0x2_0001, 0x2_1ffe)),
            List.of(new IovaRange(Long.MAX_VALUE - 10, Long.MAX_VALUE)),
            List.of(new IovaRange(Long.MIN_VALUE, -1)))) {
      assertReason(Reason.NO_MEMORY, () -> new IovaAllocator(ranges).allocate(1));
    }
  }

  @Test
  void spaceOf64BitsIsUsedUpToTheSignedLimit() {
    IovaAllocator addresses = new IovaAllocator(List.of(new IovaRange(0, -1)));

    assertThat(addresses.allocate(1L << 62)).isEqualTo(0x1_0000);
    assertThat(addresses.allocate((1L << 62) - 0x1_2000)).isEqualTo((1L << 62) + 0x1_0000);
    assertThatThrownBy(() -> addresses.allocate(0x2000)).isInstanceOf(VfioException.class);
  }

  @Test
  void threadsNeverGetTheSameRange() throws Exception {
    int threads = 4;
    int perThread = 50_000;
    IovaAllocator addresses = space(0, 1L << 40);
    List<List<Long>> kept = new ArrayList<>();
    List<Racers.Step> steps = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      List<Long> own = new ArrayList<>();
      kept.add(own);
      steps.add(
          round -> {
            long passing = addresses.allocate(0x1000);
            own.add(addresses.allocate(0x2000));
            addresses.free(passing);
          });
    }
    Racers.race(perThread, steps);

    List<Long> all = new ArrayList<>(kept.stream().flatMap(List::stream).toList());
    all.sort(null);
    assertThat(addresses.inUse()).isEqualTo(all.size());
    for (int i = 1; i < all.size(); i++) {
      assertThat(all.get(i) - all.get(i - 1)).isGreaterThanOrEqualTo(0x2000);
    }
  }
}
