package org.hghca.icm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.InitHca;
import org.hghca.icm.FakeCard.Entry;
import org.hghca.icm.FakeCard.IcmCommand;
import org.hghca.mailbox.CommandException;
import org.hghca.mailbox.CommandTimeoutException;
import org.hghca.vfio.testing.Racers;
import org.hghca.vfio.testing.Waiters;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class IcmManagerTest {
  @Test
  void contiguousChunkIsOneEntryOfSixteenPages() {
    IcmFixture f = IcmFixture.active();

    f.icm.reserve(IcmTable.QPC, 0, 1);

    IcmCommand command = f.card.commands.getFirst();
    assertThat(f.card.commands).hasSize(1);
    assertThat(command.unmap()).isFalse();
    assertThat(command.opModifier()).isEqualTo(1);
    assertThat(command.entries()).hasSize(1);
    assertThat(command.entries().getFirst().virtual()).isEqualTo(f.icm.initHca().qpcBase());
    assertThat(command.entries().getFirst().pages()).isEqualTo(16);
  }

  @ParameterizedTest
  @CsvSource({"1, 16", "2, 8", "3, 6", "5, 4", "16, 1"})
  void nonContiguousPagesGetEntriesOfTheirOwn(int run, int entries) {
    // A hole in the I/O addresses after each run of pages; pages are counted from the first chunk.
    long first = 0x10_1000;
    IcmFixture f =
        IcmFixture.active(
            HardwareProfile.S,
            page -> page < first ? page : page + (page - first) / 4096 / run * 4096);

    f.icm.reserve(IcmTable.MPT, 0, 1);

    IcmCommand command = f.card.commands.getFirst();
    assertThat(f.card.commands).hasSize(1);
    assertThat(command.opModifier()).isEqualTo(2);
    assertThat(command.entries()).hasSize(entries);
    assertThat(command.pages()).isEqualTo(16);
    assertBacked(f, 2, f.icm.initHca().mptBase(), 16);
  }

  @Test
  void scatteredPagesAreMappedInOrder() {
    IcmFixture f = IcmFixture.active(HardwareProfile.S, page -> page * 2);

    f.icm.reserve(IcmTable.MTT, 0, 1);

    List<Entry> entries = f.card.commands.getFirst().entries();
    long base = f.icm.initHca().mttBase();
    for (int i = 0; i < 16; i++) {
      assertThat(entries.get(i).virtual()).isEqualTo(base + i * 4096L);
      assertThat(entries.get(i).page()).isEqualTo(entries.getFirst().page() + i * 8192L);
      assertThat(entries.get(i).pages()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "QPC, 255, 1, 0",
    "QPC, 256, 1, 1",
    "CQC, 511, 1, 0",
    "CQC, 512, 1, 1",
    "MPT, 1023, 1, 0",
    "MPT, 1024, 1, 1",
    "MTT, 8191, 1, 0",
    "MTT, 8192, 1, 1",
    "MTT, 16384, 8192, 2",
  })
  void rangeWithinAChunkMapsOnlyThatChunk(IcmTable table, long first, long count, int chunk) {
    IcmFixture f = IcmFixture.active();

    f.icm.reserve(table, first, count);

    assertThat(f.card.commands).hasSize(1);
    assertThat(f.card.commands.getFirst().entries().getFirst().virtual())
        .isEqualTo(base(f, table) + chunk * 0x1_0000L);
  }

  @Test
  void rangeAcrossChunksMapsEachWithItsOwnCommand() {
    IcmFixture f = IcmFixture.active();

    f.icm.reserve(IcmTable.MTT, 8191, 8194);

    long base = f.icm.initHca().mttBase();
    assertThat(f.card.commands.stream().map(c -> c.entries().getFirst().virtual()))
        .containsExactly(base, base + 0x1_0000, base + 0x2_0000);
    assertBacked(f, 2, base, 48);
  }

  @Test
  void tableShorterThanAChunkIsMappedToItsEnd() {
    IcmFixture f = IcmFixture.active();

    f.icm.reserve(IcmTable.EQC, 31, 1);

    assertThat(f.card.commands.getFirst().pages()).isEqualTo(1);
    assertThat(f.icmPages()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(IcmTable.class)
  void lastEntryOfEveryTableCanBeReserved(IcmTable table) {
    IcmFixture f = IcmFixture.active();

    f.icm.reserve(table, f.icm.capacity(table) - 1, 1).close();

    assertThatThrownBy(() -> f.icm.reserve(table, f.icm.capacity(table), 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> f.icm.reserve(table, -1, 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> f.icm.reserve(table, 0, 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(f.card.commands).hasSize(2);
  }

  @Test
  void chunkIsMappedOnceAndUnmappedWithItsLastRange() {
    IcmFixture f = IcmFixture.active();

    IcmRange first = f.icm.reserve(IcmTable.QPC, 2, 1);
    IcmRange second = f.icm.reserve(IcmTable.QPC, 3, 5);
    first.close();
    assertThat(f.card.commands).hasSize(1);
    assertThat(f.icmPages()).isEqualTo(16);

    second.close();
    assertThat(f.card.commands).hasSize(2);
    assertThat(f.card.commands.getLast())
        .isEqualTo(new IcmCommand(true, 1, List.of(new Entry(f.icm.initHca().qpcBase(), 0, 16))));
    assertThat(f.card.mapped.get(1)).isEmpty();
    assertThat(f.icmPages()).isZero();
  }

  @Test
  void closingARangeTwiceReleasesItOnce() {
    IcmFixture f = IcmFixture.active();
    IcmRange first = f.icm.reserve(IcmTable.CQC, 0, 1);
    f.icm.reserve(IcmTable.CQC, 0, 1);

    first.close();
    first.close();

    assertThat(f.card.commands).hasSize(1);
    assertThat(f.icm.usage(IcmTable.CQC).ranges()).isEqualTo(1);
  }

  @Test
  void memoryIsFreedOnlyAfterTheCardHasUnmappedIt() {
    IcmFixture f = IcmFixture.active();
    IcmRange range = f.icm.reserve(IcmTable.QPC, 0, 1);
    List<Integer> pagesDuringCommand = new ArrayList<>();
    f.card.onCommand = () -> pagesDuringCommand.add(f.icmPages());

    range.close();

    assertThat(pagesDuringCommand).containsExactly(16);
    assertThat(f.icmPages()).isZero();
  }

  @Test
  void unmappedChunkIsMappedAgainWhenNeeded() {
    IcmFixture f = IcmFixture.active();
    f.icm.reserve(IcmTable.MPT, 1, 1).close();

    f.icm.reserve(IcmTable.MPT, 1, 1);

    assertThat(f.card.commands.stream().map(IcmCommand::unmap)).containsExactly(false, true, false);
    assertBacked(f, 2, f.icm.initHca().mptBase(), 16);
  }

  @Test
  void textOfARangeNamesIt() {
    IcmRange range = IcmFixture.active().icm.reserve(IcmTable.MTT, 77, 5);

    assertThat(range.table()).isEqualTo(IcmTable.MTT);
    assertThat(range.firstIndex()).isEqualTo(77);
    assertThat(range.count()).isEqualTo(5);
  }

  @Test
  void usageCountsPagesBytesAndRanges() {
    IcmFixture f = IcmFixture.active();
    f.icm.reserve(IcmTable.MTT, 0, 8193);
    f.icm.reserve(IcmTable.MTT, 0, 1);

    assertThat(f.icm.usage(IcmTable.MTT)).isEqualTo(new IcmUsage(IcmTable.MTT, 1L << 26, 32, 2));
    assertThat(f.icm.usage(IcmTable.MTT).bytes()).isEqualTo(0x2_0000);
    assertThat(f.icm.usage(IcmTable.QPC)).isEqualTo(new IcmUsage(IcmTable.QPC, 16384, 0, 0));
    assertThat(f.icm.usage())
        .hasSize(5)
        .extracting(IcmUsage::table)
        .containsExactly(IcmTable.values());
  }

  @Test
  void refusedChunkUndoesThoseBeforeIt() {
    IcmFixture f = IcmFixture.active();
    f.card.refuse = command -> !command.unmap() && f.card.commands.size() == 3;

    assertThatThrownBy(() -> f.icm.reserve(IcmTable.MTT, 0, 8192 * 3))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("MAP_ICM");

    assertThat(f.card.mapped.get(2)).isEmpty();
    assertThat(f.icmPages()).isZero();
    assertThat(f.icm.usage(IcmTable.MTT)).isEqualTo(new IcmUsage(IcmTable.MTT, 1L << 26, 0, 0));
    f.icm.reserve(IcmTable.MTT, 0, 8192 * 3);
    assertBacked(f, 2, f.icm.initHca().mttBase(), 48);
  }

  @Test
  void failureLeavesTheChunksOfOthersAlone() {
    IcmFixture f = IcmFixture.active();
    f.icm.reserve(IcmTable.MTT, 0, 1);
    f.card.refuse = command -> true;

    assertThatThrownBy(() -> f.icm.reserve(IcmTable.MTT, 0, 8193))
        .isInstanceOf(CommandException.class);

    assertThat(f.card.commands).hasSize(2).noneMatch(IcmCommand::unmap);
    assertBacked(f, 2, f.icm.initHca().mttBase(), 16);
    assertThat(f.icm.usage(IcmTable.MTT).ranges()).isEqualTo(1);
  }

  @Test
  void refusedUnmappingKeepsTheChunkForItsNextUse() {
    IcmFixture f = IcmFixture.active();
    IcmRange range = f.icm.reserve(IcmTable.QPC, 0, 1);
    f.card.refuse = IcmCommand::unmap;

    range.close();
    assertThat(f.icmPages()).isEqualTo(16);
    f.icm.reserve(IcmTable.QPC, 0, 1);

    assertThat(f.card.commands.stream().map(IcmCommand::unmap)).containsExactly(false, true);
  }

  @Test
  void memoryOfAHungMappingStaysUntilTheClose() {
    IcmFixture f = IcmFixture.active();
    f.card.hang = command -> true;

    assertThatThrownBy(() -> f.icm.reserve(IcmTable.QPC, 0, 1))
        .isInstanceOf(CommandTimeoutException.class);
    long page = f.card.commands.getFirst().entries().getFirst().page();
    assertThat(f.card.isMemory(page)).isTrue();

    f.icm.close();
    assertThat(f.card.isMemory(page)).isFalse();
  }

  @Test
  void rangeOfAFailedCardKeepsItsMemoryUntilTheClose() {
    IcmFixture f = IcmFixture.active();
    IcmRange range = f.icm.reserve(IcmTable.QPC, 0, 1);
    f.card.hang = command -> true;
    assertThatThrownBy(() -> f.icm.reserve(IcmTable.CQC, 0, 1))
        .isInstanceOf(CommandTimeoutException.class);

    range.close();
    assertThat(f.icmPages()).isEqualTo(32);

    f.icm.close();
    assertThat(f.icmPages()).isZero();
  }

  @Test
  void closeFreesEverythingWithoutACommand() {
    IcmFixture f = IcmFixture.active();
    IcmRange range = f.icm.reserve(IcmTable.QPC, 0, 1);
    f.icm.reserve(IcmTable.MTT, 0, 10_000);
    f.card.commands.clear();

    f.icm.close();
    f.icm.close();
    range.close();

    assertThat(f.icmPages()).isZero();
    assertThat(f.card.commands).isEmpty();
    assertThat(f.icm.usage()).allMatch(usage -> usage.pages() == 0 && usage.ranges() == 0);
    assertThatThrownBy(() -> f.icm.reserve(IcmTable.QPC, 0, 1))
        .isInstanceOf(IllegalStateException.class);
  }

  private static IcmFixture active(HardwareProfile profile, LongUnaryOperator place) {
    IcmFixture fixture = IcmFixture.active(profile, place);
    fixture.card.commands.clear();
    fixture.card.mapped.forEach(Map::clear);
    return fixture;
  }

  /** One command is one table, one entry and, where the length of a run is ignored, one page. */
  @Test
  void secondRtlMapsOnePageWithEachCommand() {
    IcmFixture f = active(HardwareProfile.R2, LongUnaryOperator.identity());

    f.icm.reserve(IcmTable.MTT, 0, 1);

    assertThat(f.card.commands)
        .hasSize(64)
        .allMatch(command -> command.entries().size() == 1 && command.pages() == 1);
    assertBacked(f, 2, f.icm.initHca().mttBase(), 64);
  }

  @ParameterizedTest
  @CsvSource({"1, 64", "2, 32", "48, 2", "64, 1"})
  void firstRtlMapsOneRunWithEachCommand(int run, int commands) {
    // After those of the MPT and the MTT, which are mapped first.
    long first = 0x10_1000 + 2 * 512 * 4096;
    IcmFixture f =
        active(
            HardwareProfile.R1,
            page -> page < first ? page : page + (page - first) / 4096 / run * 4096);

    f.icm.reserve(IcmTable.QPC, 1023, 1);

    assertThat(f.card.commands)
        .hasSize(commands)
        .allMatch(command -> command.entries().size() == 1 && command.pages() <= run);
    assertBacked(f, 1, f.icm.initHca().qpcBase(), 64);
  }

  @Test
  void firstRtlMapsNoRunBeyondTheEndOfATable() {
    IcmFixture f = active(HardwareProfile.R1, LongUnaryOperator.identity());

    f.icm.reserve(IcmTable.EQC, 0, 1);
    f.icm.reserve(IcmTable.QPC, 16_383, 1);

    assertThat(f.card.commands.getFirst().pages()).isEqualTo(1);
    assertThat(f.card.commands.getLast().entries().getLast())
        .extracting(entry -> entry.virtual() + entry.pages() * 4096L)
        .isEqualTo(f.icm.initHca().qpcBase() + 1024 * 4096);
  }

  /**
   * A peer may send any key, and the card reads the entry that it selects; the first RTL also reads
   * entries before those of a region.
   */
  @ParameterizedTest
  @CsvSource({"r1, 512, 512", "r2, 256, 0"})
  void entriesThatAPeerCanReachAreMappedBeforeTraffic(String profile, int keys, int translations) {
    IcmFixture f = IcmFixture.active(HardwareProfile.byName(profile), LongUnaryOperator.identity());

    InitHca bases = f.icm.initHca();
    assertThat(f.card.mapped.get(2))
        .containsOnlyKeys(
            Stream.concat(pages(bases.mptBase(), keys), pages(bases.mttBase(), translations))
                .toArray(Long[]::new));
    assertThat(f.card.mapped.get(1)).isEmpty();
    assertThat(f.icm.capacity(IcmTable.MPT)).isEqualTo(keys * 64L);
    assertThat(f.icm.usage(IcmTable.MPT).ranges()).isZero();
    assertThat(f.card.commands)
        .allMatch(command -> command.opModifier() == 2 && command.entries().size() == 1);
  }

  private static Stream<Long> pages(long base, int count) {
    return LongStream.range(0, count).mapToObj(page -> base + page * 4096);
  }

  @Test
  void partOfAChunkThatTheCardHasTakenStaysUntilTheClose() {
    IcmFixture f = active(HardwareProfile.R2, LongUnaryOperator.identity());
    f.card.refuse = command -> f.card.commands.size() == 3;

    assertThatThrownBy(() -> f.icm.reserve(IcmTable.QPC, 0, 1))
        .isInstanceOf(CommandException.class);

    assertThat(f.card.mapped.get(1).values()).hasSize(2).allMatch(f.card::isMemory);
    f.icm.reserve(IcmTable.QPC, 0, 1);
    assertBacked(f, 1, f.icm.initHca().qpcBase(), 16);
    f.icm.close();
    assertThat(f.icmPages()).isZero();
  }

  @Test
  void rtlNeverGetsAnUnmapCommand() {
    IcmFixture f = active(HardwareProfile.R1, LongUnaryOperator.identity());
    int before = f.icmPages();

    f.icm.reserve(IcmTable.QPC, 0, 1).close();
    f.icm.reserve(IcmTable.QPC, 0, 1).close();

    assertThat(f.card.commands).hasSize(1);
    assertThat(f.icmPages()).isEqualTo(before + 64);
    assertThat(f.icm.usage(IcmTable.QPC)).isEqualTo(new IcmUsage(IcmTable.QPC, 16384, 64, 0));
    f.icm.close();
    assertThat(f.icmPages()).isZero();
  }

  @Test
  void completionContextsOfTheFirstRtlAreBackedAtBothStrides() {
    IcmFixture f = active(HardwareProfile.R1, LongUnaryOperator.identity());

    // DEV_LIM says 128 bytes, the card uses 64: CQC 4096 is in page 128 or in page 64.
    f.icm.reserve(IcmTable.CQC, 4096, 1);

    long base = f.icm.initHca().cqcBase();
    assertThat(f.card.mapped.get(1)).containsKeys(base + 64 * 4096, base + 128 * 4096);
    assertThat(f.card.mapped.get(1)).hasSize(128);
  }

  @Test
  void threadsThatNeedOneChunkMapItOnce() throws Exception {
    int threads = 8;
    IcmFixture f = IcmFixture.active();
    CyclicBarrier start = new CyclicBarrier(threads);
    ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    List<Thread> running = new ArrayList<>();
    // The card has the command when all others wait for its end.
    CountDownLatch come = new CountDownLatch(threads);
    f.card.onCommand =
        () -> {
          assertThatCode(come::await).doesNotThrowAnyException();
          Waiters.await(
              running.stream().filter(thread -> !thread.equals(Thread.currentThread())).toList());
        };
    for (int t = 0; t < threads; t++) {
      int index = t;
      running.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    Throwable failure =
                        catchThrowable(
                            () -> {
                              start.await();
                              come.countDown();
                              f.icm.reserve(IcmTable.QPC, index, 1);
                            });
                    if (failure != null) {
                      failures.add(failure);
                    }
                  }));
    }
    for (Thread thread : running) {
      thread.join();
    }

    assertThat(failures).isEmpty();
    assertThat(f.card.commands).hasSize(1);
    assertThat(f.icm.usage(IcmTable.QPC)).isEqualTo(new IcmUsage(IcmTable.QPC, 16384, 16, threads));
  }

  @Test
  void concurrentReserveAndReleaseLeavesNothingBehind() throws Exception {
    IcmFixture f = IcmFixture.active();
    List<Racers.Step> steps = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      IcmTable table = IcmTable.values()[t];
      steps.add(
          i -> {
            IcmRange mine = f.icm.reserve(table, i % 32, 1);
            IcmRange shared = f.icm.reserve(IcmTable.MTT, i % 7 * 4096L, 8192);
            mine.close();
            shared.close();
          });
    }
    Racers.race(300, steps);

    assertThat(f.card.mapped.get(1)).isEmpty();
    assertThat(f.card.mapped.get(2)).isEmpty();
    assertThat(f.icmPages()).isZero();
  }

  private static long base(IcmFixture f, IcmTable table) {
    return switch (table) {
      case QPC -> f.icm.initHca().qpcBase();
      case CQC -> f.icm.initHca().cqcBase();
      case EQC -> f.icm.initHca().eqcBase();
      case MPT -> f.icm.initHca().mptBase();
      case MTT -> f.icm.initHca().mttBase();
    };
  }

  /** The card's map of these tables holds exactly these pages, each with its own DMA memory. */
  private static void assertBacked(IcmFixture f, int opModifier, long base, int pages) {
    var mapped = f.card.mapped.get(opModifier);
    assertThat(mapped).hasSize(pages);
    for (int i = 0; i < pages; i++) {
      assertThat(mapped).containsKey(base + i * 4096L);
    }
    assertThat(mapped.values()).doesNotHaveDuplicates().allMatch(f.card::isMemory);
  }
}
