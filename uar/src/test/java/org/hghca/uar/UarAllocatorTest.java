package org.hghca.uar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.uar.FakeFunction.Access;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.testing.Racers;
import org.junit.jupiter.api.Test;

class UarAllocatorTest {
  private static final long EIGHT_MIB = 8 << 20;

  private final FakeFunction function = new FakeFunction(EIGHT_MIB);
  private final UarAllocator uar = UarAllocator.open(function);

  @Test
  void eightMebibytesAre2048Pages() {
    assertThat(uar.pages()).isEqualTo(2048);
  }

  @Test
  void doorbellIsOneEightByteStoreAtTheStartOfThePage() {
    uar.allocate();
    UarPage second = uar.allocate();

    second.ringSendQueue(0x0000_0703_0001_2308L);

    assertThat(second.index()).isEqualTo(1);
    assertThat(function.accesses)
        .containsExactly(new Access(true, 0x1000, 8, 0x0000_0703_0001_2308L));
  }

  @Test
  void lastPageRingsInTheLastPageOfTheRegion() {
    UarPage last = null;
    for (int i = 0; i < 2048; i++) {
      last = uar.allocate();
    }

    last.ringSendQueue(1);

    assertThat(function.accesses).containsExactly(new Access(true, 0x7f_f000, 8, 1));
  }

  @Test
  void armingIsOneFourByteStore() {
    UarPage page = uar.allocate();

    page.armCompletionQueue(0x0200_0005);
    page.armEventQueue(0x0000_0701);

    assertThat(function.accesses)
        .containsExactly(
            new Access(true, 0x10, 4, 0x0200_0005), new Access(true, 0x20, 4, 0x0000_0701));
  }

  @Test
  void pageIsNeverRead() {
    UarPage page = uar.allocate();
    page.ringSendQueue(-1);
    page.armCompletionQueue(-1);
    page.armEventQueue(-1);
    page.close();
    uar.allocate();

    assertThat(function.accesses).hasSize(3).allMatch(Access::write);
  }

  @Test
  void pageIsNeverAllocatedTwice() {
    Set<Integer> indices = new HashSet<>();
    for (int i = 0; i < 2048; i++) {
      indices.add(uar.allocate().index());
    }

    assertThat(indices).hasSize(2048).contains(0, 2047);
    assertThat(uar.allocated()).isEqualTo(2048);
  }

  @Test
  void exhaustionNamesTheNumberOfPages() {
    for (int i = 0; i < 2048; i++) {
      uar.allocate();
    }

    assertThatThrownBy(uar::allocate)
        .isInstanceOfSatisfying(
            VfioException.class, e -> assertThat(e.reason()).isEqualTo(Reason.NO_MEMORY))
        .hasMessageContaining("2048 UAR pages of fake:card");
  }

  @Test
  void closedPageIsAllocatedAgain() {
    List<UarPage> pages = new ArrayList<>();
    for (int i = 0; i < 2048; i++) {
      pages.add(uar.allocate());
    }
    pages.get(77).close();

    assertThat(uar.allocate().index()).isEqualTo(77);
  }

  @Test
  void closingTwiceDoesNotFreeThePageOfTheNextOwner() {
    UarPage first = uar.allocate();
    first.close();
    UarPage next = uar.allocate();
    first.close();

    assertThat(next.index()).isZero();
    assertThat(uar.allocate().index()).isEqualTo(1);
  }

  @Test
  void shorterRegionHasFewerPages() {
    UarAllocator small = UarAllocator.open(new FakeFunction(3 * 4096 + 100));

    assertThat(small.pages()).isEqualTo(3);
  }

  @Test
  void regionWithoutAPageIsRefused() {
    assertThatThrownBy(() -> UarAllocator.open(new FakeFunction(2048)))
        .isInstanceOf(VfioException.class)
        .hasMessageContaining("BAR2 of fake:card has 2048 bytes");
  }

  @Test
  void pagesOfManyThreadsAreDistinct() throws Exception {
    Set<Integer> indices = ConcurrentHashMap.newKeySet();
    AtomicInteger taken = new AtomicInteger();
    CyclicBarrier together = new CyclicBarrier(4);
    Racers.Step take =
        round -> {
          if (round < 500) {
            together.await(); // all four allocate at once
            indices.add(uar.allocate().index());
            taken.incrementAndGet();
          }
        };
    Racers.race(500, Collections.nCopies(4, take));
    assertThat(taken).hasValue(2000);

    assertThat(indices).hasSize(2000);
    Set<Integer> held = ConcurrentHashMap.newKeySet();
    Racers.Step comeAndGo =
        round -> {
          try (UarPage page = uar.allocate()) {
            assertThat(held.add(page.index())).as("page %d is free", page.index()).isTrue();
            held.remove(page.index());
          }
        };
    Racers.race(5000, Collections.nCopies(4, comeAndGo));
  }
}
