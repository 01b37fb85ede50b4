package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.Bench.OK;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.InitHca;
import org.hghca.abi.MapIcm;
import org.hghca.abi.WriteMtt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** MAP_ICM and its errors. */
class MapIcmTest {
  private static final int QPS_PER_PAGE = 16;
  private static final int MTTS_PER_PAGE = 512;

  private final Bench bench = new Bench().initialize();

  @AfterEach
  void close() {
    bench.close();
  }

  private static IcmChunk chunk(long virtual, long bus, int pages) {
    return new IcmChunk(virtual, bus, pages);
  }

  /**
   * The address at which the card writes the context of the first queue pair of a page; -1: none.
   */
  private long queuePairPage(int page) {
    bench.accesses.clear();
    assertThat(bench.modify(page * QPS_PER_PAGE, 1)).isEqualTo(OK);
    return written();
  }

  private long written() {
    String last = bench.accesses.getLast();
    return last.startsWith("write ") ? Long.parseLong(last.split(" ")[1], 16) : -1;
  }

  /** The address at which the card reads the line of the first entry of a page of the MTT. */
  private long mttPage(int page) {
    WriteMtt.encode(bench.in(), (long) page * MTTS_PER_PAGE, 0x1000);
    bench.accesses.clear();
    bench.must(HcrCommand.WRITE_MTT, 0, 1);
    assertThat(bench.accesses).hasSize(2);
    return Long.parseLong(bench.accesses.getLast().split(" ")[1], 16);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7})
  void entriesAreInPairsTheLaterOneFirst(int count) {
    List<IcmChunk> chunks =
        IntStream.range(0, count)
            .mapToObj(i -> chunk(Bench.QPC + 4096L * i, Bench.FREE + 0x2000L * i, 1))
            .toList();
    assertThat(bench.map(MapIcm.CONTEXTS, chunks)).isEqualTo(OK);
    for (int i = 0; i < count; i++) {
      assertThat(queuePairPage(i)).isEqualTo(Bench.FREE + 0x2000L * i);
    }
    assertThat(bench.card.hazards()).isEmpty();
  }

  @Test
  void pageNumIsACountOfPages() {
    bench.map(MapIcm.CONTEXTS, Bench.QPC + 0x5000, Bench.FREE, 10);
    assertThat(queuePairPage(4)).isEqualTo(-1);
    assertThat(queuePairPage(5)).isEqualTo(Bench.FREE);
    assertThat(queuePairPage(14)).isEqualTo(Bench.FREE + 0x9000);
    assertThat(queuePairPage(15)).isEqualTo(-1);
    assertThat(bench.card.icmPages()).isEqualTo(10);
  }

  @Test
  void mapIcmBeforeInitHcaIsLost() {
    bench.card.reset();
    bench.master();
    bench.map(MapIcm.CONTEXTS, Bench.QPC, Bench.QPC_PAGE, 4);
    bench.map(MapIcm.TRANSLATION, Bench.MTT, Bench.MTT_PAGE, 4);
    bench.initialize();
    assertThat(queuePairPage(0)).isEqualTo(-1);
    assertThat(mttPage(1)).isZero();
    assertThat(bench.card.hazards())
        .containsExactly(
            "3.3: MAP_ICM of 0x10000000 maps wrongly",
            "3.3: MAP_ICM before INIT_HCA is lost",
            "12.9: MTT+0x1000 is not mapped: DMA at bus address 0x0");
  }

  @Test
  void oneTableOfTranslationPerCommand() {
    assertThat(
            bench.map(
                MapIcm.TRANSLATION,
                List.of(chunk(Bench.MPT, Bench.FREE, 4), chunk(Bench.MTT, Bench.FREE, 4))))
        .isEqualTo(OK);
    assertThat(mttPage(0)).isZero();
    assertThat(bench.card.hazards()).contains("3.3: MAP_ICM of 2 entries maps wrongly");
  }

  @Test
  void contextTablesMayBeMixedExceptEventQueuesAtAnOddIndex() {
    assertThat(
            bench.map(
                MapIcm.CONTEXTS,
                List.of(
                    chunk(Bench.QPC, Bench.FREE, 1),
                    chunk(Bench.CQC, Bench.FREE + 0x1000, 1),
                    chunk(Bench.EQC, Bench.FREE + 0x2000, 1))))
        .isEqualTo(OK);
    assertThat(bench.card.hazards()).isEmpty();
    assertThat(queuePairPage(0)).isEqualTo(Bench.FREE);
    assertThat(bench.giveCq(1, 4)).isEqualTo(OK);
    assertThat(written()).isEqualTo(Bench.FREE + 0x1040);
    bench.must(HcrCommand.HW2SW_EQ, 0, 1);
    assertThat(written()).isEqualTo(Bench.FREE + 0x2040);
    assertThat(
            bench.map(
                MapIcm.CONTEXTS,
                List.of(
                    chunk(Bench.CQC, Bench.FREE + 0x1000, 1),
                    chunk(Bench.EQC, Bench.FREE + 0x2000, 1))))
        .isEqualTo(OK);
    bench.must(HcrCommand.HW2SW_EQ, 0, 1);
    assertThat(written()).isEqualTo(Bench.FREE + 0x1040);
    assertThat(bench.card.hazards()).hasSize(1).first().asString().startsWith("3.3: ");
  }

  private static List<IcmChunk> translationChunks(int count, int pages) {
    List<IcmChunk> chunks = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      chunks.add(chunk(Bench.MTT + 4096L * pages * i, Bench.FREE + 4096L * pages * i, pages));
    }
    return chunks;
  }

  @Test
  void twoEntriesOfOnePageAreMapped() {
    assertThat(bench.map(MapIcm.TRANSLATION, translationChunks(2, 1))).isEqualTo(OK);
    assertThat(mttPage(0)).isEqualTo(Bench.FREE);
    assertThat(mttPage(1)).isEqualTo(Bench.FREE + 0x1000);
    assertThat(bench.card.hazards()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 4, 5})
  void thirdOfThreeOrMoreEntriesOfOnePageReplacesTheFirst(int count) {
    assertThat(bench.map(MapIcm.TRANSLATION, translationChunks(count, 1))).isEqualTo(OK);
    assertThat(bench.card.hazards()).hasSize(1).first().asString().startsWith("3.3: ");
    assertThat(mttPage(0)).isEqualTo(Bench.FREE + 0x2000);
    assertThat(mttPage(1)).isEqualTo(Bench.FREE + 0x1000);
    for (int i = 2; i < count; i++) {
      assertThat(mttPage(i)).isZero();
    }
    assertThat(bench.card.hazards()).anyMatch(hazard -> hazard.startsWith("12.9: "));
  }

  @Test
  void threeEntriesOfTwoPagesAreMapped() {
    assertThat(bench.map(MapIcm.TRANSLATION, translationChunks(3, 2))).isEqualTo(OK);
    for (int i = 0; i < 6; i++) {
      assertThat(mttPage(i)).isEqualTo(Bench.FREE + 0x1000L * i);
    }
    assertThat(bench.card.hazards()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"1024, 0", "1025, 400000", "2048, 400000"})
  void mapOfQueuePairsWrapsBeyondItsCapacity(int pages, String wrapped) {
    bench.map(MapIcm.CONTEXTS, Bench.QPC, Bench.FREE, pages);
    assertThat(queuePairPage(0)).isEqualTo(Bench.FREE + Long.parseLong(wrapped, 16));
    assertThat(queuePairPage(1023)).isEqualTo(Bench.FREE + 4096L * (pages == 2048 ? 2047 : 1023));
    assertThat(bench.card.icmPages()).isEqualTo(1024);
    assertThat(bench.card.hazards()).hasSize(pages > 1024 ? 1 : 0);
  }

  @ParameterizedTest
  @CsvSource({"1, CQC, 256", "1, EQC, 1", "2, MPT, 512", "2, MTT, 512"})
  void everyTableHasItsCapacity(int opModifier, String table, int capacity) {
    long virtual =
        switch (table) {
          case "CQC" -> Bench.CQC;
          case "EQC" -> Bench.EQC;
          case "MPT" -> Bench.MPT;
          default -> Bench.MTT;
        };
    bench.map(opModifier, virtual, Bench.FREE, capacity);
    assertThat(bench.card.hazards()).isEmpty();
    assertThat(bench.card.icmPages()).isEqualTo(capacity);
    bench.map(opModifier, virtual, Bench.FREE, capacity + 1);
    assertThat(bench.card.hazards()).hasSize(1);
    assertThat(bench.card.icmPages()).isEqualTo(capacity);
  }

  @Test
  void tablesAreFoundInAnyOrder() {
    new InitHca(Bench.MTT, 14, Bench.EQC, 13, Bench.CQC, 5, Bench.QPC, 14, Bench.MPT)
        .encode(bench.in());
    bench.must(HcrCommand.INIT_HCA, 0, 0);
    bench.map(MapIcm.CONTEXTS, Bench.MTT + 0x1000, Bench.FREE, 1);
    bench.map(MapIcm.TRANSLATION, Bench.MPT + 0x2000, Bench.FREE + 0x1000, 1);
    assertThat(queuePairPage(1)).isEqualTo(Bench.FREE);
    assertThat(mttPage(2)).isEqualTo(Bench.FREE + 0x1000);
  }
}
