package org.hghca.vfio.dma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MemorySource;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.testing.Racers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The memory of functions whose I/O page table another party maintains. */
class DmaSpaceTest {
  private static final long PAGE = 4096;

  private final FakeBackend backend = new FakeBackend();
  private final DmaSpace space = new DmaSpace(backend);
  private final DeviceMemory device = device("f0");
  private final Arena arena = Arena.ofShared();

  private DeviceMemory device(String name) {
    return new DeviceMemory(Locator.parse("fake:" + name), space, MemorySource.ANONYMOUS);
  }

  @AfterEach
  void closeAll() {
    device.close();
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }

  private MemorySegment pages(long count) {
    return arena.allocate(count * PAGE, PAGE);
  }

  private void assertReaches(DmaMapping mapping) {
    MemorySegment memory = mapping.segment();
    for (long offset : new long[] {0, memory.byteSize() / 2, memory.byteSize() - 1}) {
      assertThat(backend.translate(mapping.iova(offset), mapping.access().writable()))
          .isEqualTo(memory.address() + offset);
    }
  }

  private static void assertRefused(Runnable call, Reason reason, String... message) {
    assertReason(reason, call::run).hasMessageContainingAll(message);
  }

  @Test
  void memoryIsRoundedOutwardToPages() {
    MemorySegment memory = pages(4).asSlice(100, PAGE);

    DmaMapping mapping = device.map(memory, DmaAccess.READ_WRITE);

    assertThat(backend.entries.values())
        .containsExactly(
            new FakeBackend.Entry(memory.address() - 100, 2 * PAGE, DmaAccess.READ_WRITE, memory));
    assertThat(mapping.segment()).isSameAs(memory);
    assertThat(mapping.iova(0) % PAGE).isEqualTo(100);
    assertReaches(mapping);
    assertThatThrownBy(() -> mapping.iova(PAGE)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void allocatedMemoryIsZeroedWholePagesReachedAlone() {
    DmaMapping mapping = device.allocate(5000);

    assertThat(mapping.segment().byteSize()).isEqualTo(2 * PAGE);
    assertThat(mapping.segment().address() % PAGE).isZero();
    assertThat(mapping.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    assertReaches(mapping);
    assertThat(backend.translate(mapping.iova(0) + 2 * PAGE, false)).isEqualTo(-1);
    assertRefused(() -> device.allocate(0), Reason.INVALID, "0 bytes");
  }

  @Test
  void closingUnmapsOnce() {
    DmaMapping mapping = device.map(pages(1), DmaAccess.READ);
    assertThat(device.mappings()).isOne();

    mapping.close();
    mapping.close();

    assertThat(backend.entries).isEmpty();
    assertThat(device.mappings()).isZero();
  }

  @Test
  void memoryInsideMappedMemoryIsPinnedOnce() {
    MemorySegment memory = pages(8);
    DmaMapping all = device.map(memory, DmaAccess.READ_WRITE);
    DmaMapping part = device.map(memory.asSlice(PAGE + 5, PAGE), DmaAccess.READ_WRITE);
    DmaMapping same = device.map(memory, DmaAccess.READ);
    assertThat(backend.maps).isOne();
    assertThat(device.mappings()).isEqualTo(3);

    all.close();
    assertReaches(part);
    assertReaches(same);
    part.close();
    part.close();
    assertReaches(same);
    same.close();

    assertThat(backend.entries).isEmpty();
  }

  @Test
  void memoryThatOverlapsOrNeedsMoreAccessIsMappedSeparately() {
    MemorySegment memory = pages(8);
    DmaMapping low = device.map(memory.asSlice(0, 5 * PAGE), DmaAccess.READ_WRITE);
    DmaMapping high = device.map(memory.asSlice(3 * PAGE, 5 * PAGE), DmaAccess.READ);
    DmaMapping written = device.map(memory.asSlice(6 * PAGE, PAGE), DmaAccess.READ_WRITE);

    assertThat(backend.entries).hasSize(3);
    assertReaches(low);
    assertReaches(high);
    assertReaches(written);
    assertThat(backend.translate(high.iova(0), true)).isEqualTo(-1);
    high.close();
    assertReaches(low);
    assertReaches(written);
  }

  @Test
  void memoryIsSharedAgainAfterItsEnclosingMemoryIsUnmapped() {
    MemorySegment memory = pages(8);
    DmaMapping small = device.map(memory.asSlice(2 * PAGE, 2 * PAGE), DmaAccess.READ_WRITE);
    device.map(memory, DmaAccess.READ_WRITE).close();

    DmaMapping again = device.map(memory.asSlice(3 * PAGE, 10), DmaAccess.READ);

    assertThat(backend.maps).isEqualTo(2);
    small.close();
    assertReaches(again);
  }

  @Test
  void functionsOfOneSpaceSharePinsAndUnmapOnlyTheirOwn() {
    MemorySegment memory = pages(2);
    DeviceMemory other = device("f1");
    DmaMapping mine = device.map(memory, DmaAccess.READ_WRITE);
    DmaMapping allocated = device.allocate(PAGE);
    other.map(memory, DmaAccess.READ_WRITE);
    other.map(memory.asSlice(PAGE), DmaAccess.READ);
    other.allocate(PAGE);
    assertThat(backend.maps).isEqualTo(3);

    other.close();
    other.close();

    assertThat(backend.entries).hasSize(2);
    assertReaches(mine);
    assertReaches(allocated);
    assertThat(other.mappings()).isZero();
    assertRefused(() -> other.map(memory, DmaAccess.READ), Reason.CLOSED, "fake:f1");
    assertRefused(() -> other.allocate(1), Reason.CLOSED, "fake:f1");
  }

  @Test
  void memoryWhoseArenaEndedIsStillUnmapped() {
    Arena owner = Arena.ofShared();
    DmaMapping mapping = device.map(owner.allocate(100), DmaAccess.READ_WRITE);
    owner.close();

    mapping.close();

    assertThat(backend.entries).isEmpty();
  }

  @Test
  @SuppressWarnings("restricted")
  void newMemoryAtAnOldAddressIsNotTakenForTheOld() {
    MemorySegment memory = pages(2);
    DmaMapping old;
    try (Arena owner = Arena.ofShared()) {
      MemorySegment first =
          MemorySegment.ofAddress(memory.address()).reinterpret(2 * PAGE, owner, null);
      old = device.map(first, DmaAccess.READ_WRITE);
    }

    DmaMapping fresh = device.map(memory, DmaAccess.READ_WRITE);

    assertThat(backend.entries).hasSize(2);
    assertThat(device.map(memory.asSlice(PAGE), DmaAccess.READ).iova(0))
        .isEqualTo(fresh.iova(PAGE));
    old.close();
    assertReaches(fresh);
  }

  @Test
  void largeMemoryIsAlignedToLargePagesOfTheTable() {
    long huge = MemorySource.HUGE_PAGE;
    device.map(pages(1), DmaAccess.READ_WRITE);
    MemorySegment memory = arena.allocate(3 * huge, huge);
    for (long offset : new long[] {0, PAGE, 5 * PAGE + 17}) {
      try (DmaMapping mapping = device.map(memory.asSlice(offset, huge), DmaAccess.READ)) {
        assertThat(mapping.iova(0) % huge).isEqualTo(offset);
        assertReaches(mapping);
      }
    }
  }

  @Test
  void reservedAddressesAreAvoided() {
    backend.ranges =
        List.of(
            new IovaRange(0, 0x1_2fff),
            new IovaRange(0x10_0800, 0x10_2fff),
            new IovaRange(0x20_0000, -1));
    DeviceMemory other =
        new DeviceMemory(Locator.parse("fake:f1"), new DmaSpace(backend), MemorySource.ANONYMOUS);

    assertThat(other.map(pages(3), DmaAccess.READ).iova(0)).isEqualTo(0x1_0000);
    assertThat(other.map(pages(2), DmaAccess.READ).iova(0)).isEqualTo(0x10_1000);
    assertThat(other.map(pages(2), DmaAccess.READ).iova(0)).isEqualTo(0x20_0000);
    other.close();
  }

  @Test
  void addressesThatAnotherFunctionReservesAreNoLongerUsed() {
    DmaMapping first = device.map(pages(2), DmaAccess.READ);
    assertThat(first.iova(0)).isEqualTo(0x1_0000);
    backend.ranges = List.of(new IovaRange(0, 0x1_1fff), new IovaRange(0x8_0000, 0xf_ffff));

    space.refresh();

    assertThat(device.map(pages(1), DmaAccess.READ).iova(0)).isEqualTo(0x8_0000);
    first.close();
    assertThat(device.map(pages(2), DmaAccess.READ).iova(0)).isEqualTo(0x1_0000);
    assertRefused(() -> device.map(pages(0x80), DmaAccess.READ), Reason.NO_MEMORY, "I/O address");
  }

  @Test
  void failedMappingTakesNothing() {
    backend.refuseMaps = 2;
    MemorySegment memory = pages(1);

    assertRefused(() -> device.map(memory, DmaAccess.READ), Reason.NO_MEMORY, "refused");
    assertRefused(() -> device.allocate(1), Reason.NO_MEMORY, "refused");

    assertThat(device.mappings()).isZero();
    assertThat(device.map(memory, DmaAccess.READ).iova(0)).isEqualTo(0x1_0000);
  }

  @Test
  void addressesAndMemoryThatCouldNotBeUnmappedAreNotReused() {
    DmaMapping stuck = device.allocate(1);
    backend.refuseUnmaps = true;
    assertRefused(stuck::close, Reason.INVALID, "refused");
    backend.refuseUnmaps = false;

    DmaMapping next = device.allocate(1);

    assertThat(next.segment().address()).isNotEqualTo(stuck.segment().address());
    assertThat(next.iova(0)).isNotEqualTo(stuck.iova(0));
  }

  @Test
  void closeOfAFunctionUnmapsWhatItCan() {
    DmaMapping allocated = device.allocate(1);
    device.map(pages(1), DmaAccess.READ);
    backend.refuseUnmaps = true;

    assertThatCode(device::close).doesNotThrowAnyException();

    assertThat(device.mappings()).isZero();
    assertThat(allocated.segment().scope().isAlive()).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void unusableMemoryIsRefused(DmaAccess access) {
    MemorySegment heap = MemorySegment.ofArray(new byte[64]);
    assertRefused(() -> device.map(heap, access), Reason.INVALID, "heap memory", "Arena");
    MemorySegment empty = pages(1).asSlice(5, 0);
    assertRefused(() -> device.map(empty, access), Reason.INVALID, "0 bytes");
    Arena closed = Arena.ofShared();
    MemorySegment gone = closed.allocate(1);
    closed.close();
    assertRefused(() -> device.map(gone, access), Reason.INVALID, "closed arena");
    MemorySegment readOnly = pages(1).asReadOnly();
    if (access.writable()) {
      assertRefused(() -> device.map(readOnly, access), Reason.INVALID, "read-only");
    } else {
      assertReaches(device.map(readOnly, access));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MAX_VALUE - 10, -10, Long.MIN_VALUE})
  @SuppressWarnings("restricted")
  void spaceWithoutMemoryMapsNone(long address) {
    MemorySegment nonsense = MemorySegment.ofAddress(address).reinterpret(100);

    assertRefused(() -> device.map(nonsense, DmaAccess.READ), Reason.INVALID, "no memory");
    assertThat(backend.maps).isZero();
  }

  @Test
  void confinedMemoryIsAcceptedWhereOnlyPagesAreReached() throws Exception {
    try (Arena confined = Arena.ofConfined();
        ExecutorService stranger = Executors.newSingleThreadExecutor()) {
      MemorySegment memory = confined.allocate(64);
      assertReaches(device.map(memory, DmaAccess.READ_WRITE));
      DmaMapping elsewhere = stranger.submit(() -> device.map(memory, DmaAccess.READ_WRITE)).get();
      assertReaches(elsewhere);
    }
  }

  @Test
  void threadReachesMemoryThroughEachOwnersSegment() {
    backend.pinsPages = false;
    MemorySegment memory = pages(2);

    device.map(memory, DmaAccess.READ_WRITE);
    device.map(memory.asSlice(8, 8), DmaAccess.READ_WRITE);

    assertThat(backend.entries.values())
        .extracting(entry -> entry.memory().byteSize())
        .containsExactlyInAnyOrder(2 * PAGE, 8L);
    try (Arena confined = Arena.ofConfined()) {
      MemorySegment mine = confined.allocate(64);
      assertRefused(
          () -> device.map(mine, DmaAccess.READ),
          Reason.INVALID,
          "confined to a thread",
          "Arena.ofShared()");
    }
  }

  private boolean isPinned(long start, long end, DmaAccess access) {
    return backend.entries.values().stream()
        .anyMatch(
            entry ->
                entry.address() <= start
                    && end <= entry.address() + entry.bytes()
                    && (entry.access().writable() || !access.writable()));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 42, 0x5eed})
  void randomUseReachesMappedMemoryAndPinsOnlyUnpinned(long seed) {
    Random random = new Random(seed);
    int count = 40;
    MemorySegment memory = pages(count);
    List<DmaMapping> live = new ArrayList<>();
    for (int step = 0; step < 3_000; step++) {
      String where = "seed %d step %d".formatted(seed, step);
      if (live.isEmpty() || random.nextInt(100) < 52) {
        long from = random.nextLong(count * PAGE);
        long bytes = 1 + random.nextLong(Math.min(12 * PAGE, count * PAGE - from));
        DmaAccess access = random.nextBoolean() ? DmaAccess.READ : DmaAccess.READ_WRITE;
        MemorySegment part = memory.asSlice(from, bytes);
        long end = part.address() + bytes + PAGE - 1 & -PAGE;
        boolean pinned = isPinned(part.address() & -PAGE, end, access);
        int before = backend.maps;
        DmaMapping mapping = device.map(part, access);
        assertThat(backend.maps - before).as(where).isEqualTo(pinned ? 0 : 1);
        assertThat(mapping.access()).as(where).isEqualTo(access);
        live.add(mapping);
      } else {
        live.remove(random.nextInt(live.size())).close();
      }
      if (step % 50 == 0) {
        live.forEach(this::assertReaches);
      }
      assertThat(device.mappings()).as(where).isEqualTo(live.size());
    }
    live.forEach(DmaMapping::close);
    assertThat(backend.entries).isEmpty();
    assertThat(device.map(memory, DmaAccess.READ).iova(0)).isEqualTo(0x1_0000);
  }

  @Test
  void threadsMapAndUnmapConcurrently() throws Exception {
    MemorySegment common = pages(16);
    Racers.Step work =
        i -> {
          try (DmaMapping allocated = device.allocate(1 + i % 3 * PAGE);
              DmaMapping whole = device.map(common, DmaAccess.READ);
              DmaMapping part =
                  device.map(common.asSlice(i % 16 * PAGE, PAGE), DmaAccess.READ_WRITE)) {
            assertReaches(allocated);
            assertReaches(whole);
            assertReaches(part);
          }
        };
    Racers.race(200, Collections.nCopies(4, work));
    assertThat(device.mappings()).isZero();
    assertThat(backend.entries).isEmpty();
  }

  @Test
  void functionMayCloseWhileOthersMapAndUnmap() throws Exception {
    MemorySegment common = pages(1);
    try (ExecutorService executor = Executors.newFixedThreadPool(2)) {
      for (int round = 0; round < 100; round++) {
        DeviceMemory other = device("f1");
        CountDownLatch going = new CountDownLatch(2);
        Callable<VfioException> work =
            () -> {
              try {
                while (true) {
                  other.allocate(PAGE).iova(0);
                  other.map(common, DmaAccess.READ).close();
                  going.countDown();
                }
              } catch (VfioException e) {
                return e;
              }
            };
        Future<VfioException> one = executor.submit(work);
        Future<VfioException> two = executor.submit(work);
        going.await();
        other.close();
        assertThat(one.get().reason()).isEqualTo(Reason.CLOSED);
        assertThat(two.get().reason()).isEqualTo(Reason.CLOSED);
        assertThat(backend.entries).isEmpty();
      }
    }
  }
}
