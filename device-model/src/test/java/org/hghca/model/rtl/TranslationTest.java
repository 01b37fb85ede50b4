package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.Translation.OK;
import static org.hghca.model.rtl.Translation.WRONG_FLAGS;
import static org.hghca.model.rtl.Translation.WRONG_KEY;
import static org.hghca.model.rtl.Translation.WRONG_LENGTH;
import static org.hghca.model.rtl.Translation.WRONG_PD;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.InitHca;
import org.hghca.abi.MapIcm;
import org.hghca.abi.Mpt;
import org.hghca.abi.MptFlags;
import org.hghca.abi.WriteMtt;
import org.hghca.model.card.Faults;
import org.hghca.model.card.HostMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys, pages and accesses through them. */
class TranslationTest {
  private static final int KEY = 0xabc0_8033;
  private static final int INDEX = 0x33;
  private static final int PD = 5;
  private static final long START = 0x7f00_0000_0000L;
  private static final int LENGTH = 3 * 4096;
  private static final long FIRST = 6;

  private final Bench bench = new Bench();
  private final Faults faults = new Faults();
  private final Hazards hazards = new Hazards();
  private final HostMemory host = new HostMemory(faults, () -> {});
  private final TranslationUnit translation =
      new TranslationUnit(HardwareProfile.R1, host, hazards);

  @BeforeEach
  void bringUp() {
    host.attach(bench);
    host.enable(true);
    new InitHca(Bench.QPC, 14, Bench.CQC, 13, Bench.EQC, 5, Bench.MPT, 14, Bench.MTT)
        .encode(bench.in());
    translation.initialize(bench.in());
    map(Bench.MPT, Bench.MPT_PAGE, 1);
    map(Bench.MTT, Bench.MTT_PAGE, 1);
    // Pages that do not follow each other.
    writePages(FIRST, Bench.FREE + 0x5000, Bench.FREE + 0x1000, Bench.FREE + 0x3fff);
    register(INDEX, KEY, MptFlags.LOCAL_WRITE, START);
    bench.accesses.clear();
  }

  @AfterEach
  void close() {
    bench.close();
  }

  private void map(long virtual, long bus, int pages) {
    MapIcm.encode(bench.in(), List.of(new IcmChunk(virtual, bus, pages)));
    translation.map(bench.in(), 1);
  }

  private void writePages(long first, long... pages) {
    WriteMtt.encode(bench.in(), first, pages);
    translation.writePages(bench.in(), pages.length);
  }

  private void register(int index, int key, int flags, long start) {
    new Mpt(flags, 7, key, PD, start, LENGTH, 0, 0, 0, FIRST, 0).encode(bench.in());
    translation.take(index, bench.in());
  }

  private int check(long address, long length) {
    return translation.check(KEY, PD, address, length, 0);
  }

  @Test
  void everyFailingCheckIsInTheSum() {
    assertThat(check(START, LENGTH)).isEqualTo(OK);
    assertThat(translation.check(KEY, PD + 1, START, 1, 0)).isEqualTo(WRONG_PD);
    assertThat(translation.check(KEY, PD, START, 1, MptFlags.REMOTE_WRITE)).isEqualTo(WRONG_FLAGS);
    assertThat(translation.check(INDEX, PD, START, 1, 0)).isEqualTo(WRONG_KEY);
    assertThat(check(START, LENGTH + 1)).isEqualTo(WRONG_LENGTH);
    assertThat(translation.check(INDEX, 0, START + LENGTH, 1, MptFlags.REMOTE_READ))
        .isEqualTo(WRONG_PD | WRONG_FLAGS | WRONG_KEY | WRONG_LENGTH);
  }

  @ParameterizedTest
  @CsvSource({"0x33", "0x80000033", "0xabc00033"})
  void indexIsTheKeysLow15BitsAndTheWholeKeyIsCompared(String key) {
    assertThat(translation.check(Long.decode(key).intValue(), PD, START, 1, 0))
        .isEqualTo(WRONG_KEY);
  }

  @ParameterizedTest
  @ValueSource(ints = {MptFlags.REMOTE_WRITE, MptFlags.REMOTE_READ, MptFlags.LOCAL_WRITE})
  void exactlyTheOneBitIsNeeded(int flag) {
    register(INDEX, KEY, flag, START);
    assertThat(translation.check(KEY, PD, START, 1, flag)).isEqualTo(OK);
    register(INDEX, KEY, 7 & ~flag, START);
    assertThat(translation.check(KEY, PD, START, 1, flag)).isEqualTo(WRONG_FLAGS);
    register(INDEX, KEY, MptFlags.SW_OWNS | MptFlags.PHYSICAL | flag, START);
    assertThat(translation.check(KEY, PD, START, 1, flag)).isEqualTo(OK);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 8, 4096, 5 * 4096, 1 << 20, 1L << 32, 1L << 40})
  void lowerBoundIsNotChecked(long below) {
    assertThat(check(START - below, 8)).isEqualTo(OK);
    assertThat(check(START - below, below + LENGTH)).isEqualTo(OK);
    assertThat(check(START - below, below + LENGTH + 1)).isEqualTo(WRONG_LENGTH);
    assertThat(check(START + LENGTH - 1, 1)).isEqualTo(OK);
    assertThat(check(START + LENGTH, 1)).isEqualTo(WRONG_LENGTH);
  }

  @Test
  void addressesBelowTheRegionReachThePagesBefore() {
    writePages(FIRST - 2, Bench.FREE + 0x8000, Bench.FREE + 0x9000);
    bench.accesses.clear();
    translation.write(KEY, START - 4096, bytes(8), 0, 8);
    translation.write(KEY, START - 2 * 4096 + 16, bytes(8), 0, 8);
    assertThat(bench.accesses).containsExactly("write 409000 8", "write 408010 8");
  }

  @Test
  void queueAccessesCountFromTheFirstPage() {
    assertThat(translation.checkQueue(KEY, PD, LENGTH - 64, 64, MptFlags.LOCAL_WRITE))
        .isEqualTo(OK);
    assertThat(translation.checkQueue(KEY, PD, LENGTH - 63, 64, 0)).isEqualTo(WRONG_LENGTH);
    assertThat(translation.checkQueue(KEY, PD + 1, 0, 64, MptFlags.REMOTE_READ))
        .isEqualTo(WRONG_PD | WRONG_FLAGS);
    translation.writeQueue(KEY, 0x1010, bytes(4), 0, 4);
    assertThat(bench.accesses).containsExactly("write 401010 4");
    bench.accesses.clear();
    translation.readQueue(KEY, 8, bytes(4), 0, 4);
    assertThat(bench.accesses).containsExactly("read 405008 4");
  }

  private static MemorySegment bytes(int length) {
    MemorySegment bytes = MemorySegment.ofArray(new byte[length]);
    for (int i = 0; i < length; i++) {
      bytes.set(ValueLayout.JAVA_BYTE, i, (byte) (i + 1));
    }
    return bytes;
  }

  @Test
  void dataIsMovedPageByPageAndLowBitsOfPageAddressesAreIgnored() {
    MemorySegment data = bytes(6000);
    translation.write(KEY, START + 4000, data, 0, 6000);
    assertThat(bench.accesses)
        .containsExactly("write 405fa0 96", "write 401000 4096", "write 403000 1808");
    MemorySegment back = MemorySegment.ofArray(new byte[6010]);
    translation.read(KEY, START + 4000, back, 10, 6000);
    assertThat(back.asSlice(10).mismatch(data)).isEqualTo(-1);
  }

  @Test
  void startInsideAPageIsTakenForItsBeginning() {
    register(INDEX, KEY, 0, START + 0x100);
    translation.read(KEY, START + 0x100, bytes(16), 0, 16);
    assertThat(bench.accesses).containsExactly("read 405000 16");
  }

  @Test
  void refusedReadOfTheHostReturnsZeros() {
    writePages(FIRST, 0x1000);
    MemorySegment data = bytes(8);
    translation.read(KEY, START, data, 0, 8);
    assertThat(data.mismatch(MemorySegment.ofArray(new byte[8]))).isEqualTo(-1);
    assertThat(faults.list())
        .containsExactly("DMA read of 8 bytes at IOVA 0x1000 refused by the host");
  }

  @Test
  void returnedEntryFailsAtOnce() {
    translation.release(INDEX);
    assertThat(check(START, 1)).isNotEqualTo(OK);
    register(INDEX, KEY, 0, START);
    assertThat(check(START, 1)).isEqualTo(OK);
  }

  @Test
  void entriesAreReversedInIcmWhenTheirLineIsReplaced() {
    register(INDEX + 4096, KEY + 4096, 7, START);
    assertThat(bench.accesses).isEmpty();
    // The second way is replaced, and its page is not mapped.
    register(INDEX + 8192, KEY + 8192, 7, START);
    assertThat(bench.accesses).containsExactly("write cc0 64");
    assertThat(hazards.list()).hasSize(1).first().asString().startsWith("12.9: MPT+0x40cc0 ");
    assertThat(faults.count()).isEqualTo(1);
    assertThat(translation.check(KEY, PD, START, 1, 0)).isEqualTo(OK);
  }

  @Test
  void unmappedEntryIsReadFromBusAddressZero() {
    assertThat(translation.check(65, PD, START, 1, 0))
        .isEqualTo(WRONG_PD | WRONG_KEY | WRONG_LENGTH);
    assertThat(bench.accesses).containsExactly("read 40 64");
    assertThat(hazards.list())
        .containsExactly("12.9: MPT+0x1040 is not mapped: DMA at bus address 0x40");
    assertThat(faults.count()).isEqualTo(1);
  }

  @Test
  void entryIsReadBackAsItWasGiven() {
    // Way 1 of the set: written for the third of its set, then read again.
    map(Bench.MPT, Bench.MPT_PAGE, 512);
    for (int i = 1; i <= 2; i++) {
      register(INDEX + 4096 * i, KEY + 4096 * i, 7, START);
    }
    assertThat(bench.accesses).contains("write 360cc0 64");
    assertThat(translation.check(KEY + 4096, PD, START, LENGTH, 7)).isEqualTo(OK);
    translation.read(KEY + 4096, START + 0x1000, bytes(4), 0, 4);
    assertThat(bench.accesses.getLast()).isEqualTo("read 401000 4");
  }

  @Test
  void lineOfPagesIsReadBeforeItIsWritten() {
    map(Bench.MTT, Bench.MTT_PAGE, 20);
    writePages(100, 0x1000, 0x2000, 0x3000, 0x4000);
    assertThat(bench.accesses).containsExactly("read 330320 32");
    writePages(102, 0x5000);
    assertThat(bench.accesses).hasSize(1);
    // Lines 512 apart share a set of two.
    writePages(100 + 4 * 512, 0x1000);
    writePages(100 + 8 * 512, 0x1000);
    assertThat(bench.accesses)
        .containsExactly("read 330320 32", "read 334320 32", "write 330320 32", "read 338320 32");
    assertThat(bench.hex(Bench.MTT_PAGE + 0x320, 32))
        .isEqualTo(
            "0010000000000000" + "0020000000000000" + "0050000000000000" + "0040000000000000");
  }

  @Test
  void lineOfAnUnmappedPageIsWrittenToBusAddressZero() {
    map(Bench.MTT, Bench.MTT_PAGE, 20);
    writePages(100, 0x1000);
    translation.unmap(Bench.MTT, 1);
    writePages(100 + 4 * 512, 0x1000);
    assertThat(hazards.list()).isEmpty();
    writePages(100 + 8 * 512, 0x1000);
    assertThat(bench.accesses).contains("write 320 32");
    assertThat(hazards.list())
        .containsExactly("12.9: MTT+0x320 is not mapped: DMA at bus address 0x320");
  }

  @Test
  void resetClearsKeysAndPages() {
    translation.reset();
    assertThat(check(START, 1)).isNotEqualTo(OK);
    assertThat(translation.icmPages()).isZero();
  }
}
