package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.Bench.HUNG;
import static org.hghca.model.rtl.Bench.OK;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.InitHca;
import org.hghca.abi.MapIcm;
import org.hghca.abi.Mpt;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.WriteMtt;
import org.hghca.model.card.Faults;
import org.hghca.model.card.HostMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Where the second RTL's command side differs from the first's. */
class R2RtlTest {
  private final Bench bench = new Bench("r2").initialize();

  @AfterEach
  void close() {
    bench.close();
  }

  private String lastAccess() {
    return bench.accesses.getLast();
  }

  @Test
  void queryDevLimReports256QueuePairsAndCompletionQueues() {
    bench.must(HcrCommand.QUERY_DEV_LIM, 0, 0);
    assertThat(bench.hex(Bench.OUTBOX, 64))
        .isEqualTo(
            "0100000000000000000d000d0808050e"
                + "0c000001000800000100008000400040"
                + "005000f1000c00000010020000100200"
                + "12345678876500000000000000000000");
  }

  @Test
  void mapIcmMapsOnePageWhateverItsCount() {
    bench.map(MapIcm.CONTEXTS, Bench.QPC, Bench.QPC_PAGE, 4);
    bench.map(MapIcm.TRANSLATION, Bench.MTT, Bench.MTT_PAGE, 255);
    assertThat(bench.card.icmPages()).isEqualTo(2);
    assertThat(bench.modify(16, 1)).isEqualTo(OK);
    assertThat(lastAccess()).isEqualTo("read 100000 192");
    bench.map(MapIcm.CONTEXTS, Bench.QPC + 0x1000, Bench.QPC_PAGE + 0x1000, 1);
    assertThat(bench.modify(16, 1)).isEqualTo(OK);
    assertThat(lastAccess()).isEqualTo("write 201000 164");
  }

  @ParameterizedTest
  @ValueSource(ints = {MapIcm.CONTEXTS, MapIcm.TRANSLATION})
  void mapIcmOfTwoEntriesHangs(int opModifier) {
    long virtual = opModifier == MapIcm.CONTEXTS ? Bench.QPC : Bench.MTT;
    IcmChunk chunk = new IcmChunk(virtual, Bench.FREE, 1);
    assertThat(bench.map(opModifier, List.of(chunk, chunk))).isEqualTo(HUNG);
    assertThat(bench.card.hazards()).containsExactly("2.3: MAP_ICM 0x2 never ends");
    assertThat(bench.command(HcrCommand.QUERY_DEV_LIM, 0, 0)).isEqualTo(HUNG);
  }

  private void initialize(int logQps, int logMpts) {
    new InitHca(Bench.QPC, logQps, Bench.CQC, 8, Bench.EQC, 5, Bench.MPT, logMpts, Bench.MTT)
        .encode(bench.in());
    bench.must(HcrCommand.INIT_HCA, 0, 0);
  }

  @Test
  void pageBeyondTheEndOfItsTableIsLost() {
    initialize(4, 14);
    bench.map(MapIcm.CONTEXTS, Bench.QPC, Bench.QPC_PAGE, 1);
    bench.map(MapIcm.CONTEXTS, Bench.QPC + 0x1000, Bench.QPC_PAGE + 0x1000, 1);
    assertThat(bench.card.icmPages()).isEqualTo(1);
    assertThat(bench.card.hazards()).containsExactly("3.3: MAP_ICM of 0x10001000 is lost");
  }

  @Test
  void entryOutsideTheMptIsTakenForTheMtt() {
    initialize(8, 6);
    bench.map(MapIcm.TRANSLATION, Bench.MPT + 0x1000, Bench.MPT_PAGE, 1);
    new Mpt(0, 0, 64, 0, 0, 4096, 0, 0, 0, 0, 0).encode(bench.in());
    for (int i = 0; i < 3; i++) {
      bench.must(HcrCommand.SW2HW_MPT, 0, 64 + 4096 * i);
    }
    assertThat(lastAccess()).as("a line of an entry that no page is behind").startsWith("write 0 ");
    assertThat(bench.card.icmPages()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({"CLOSE_HCA, 0", "UNMAP_ICM, 1", "UNMAP_ICM, 2"})
  void nothingIsEverUnmapped(HcrCommand command, int opModifier) {
    bench.map(MapIcm.CONTEXTS, Bench.QPC, Bench.QPC_PAGE, 1);
    bench.map(MapIcm.TRANSLATION, Bench.MTT, Bench.MTT_PAGE, 1);
    long virtual = opModifier == MapIcm.CONTEXTS ? Bench.QPC : Bench.MTT;
    assertThat(bench.command(command.code(), opModifier, virtual, 1, 0)).isEqualTo(OK);
    assertThat(bench.card.icmPages()).isEqualTo(2);
    WriteMtt.encode(bench.in(), 0, 0x1000);
    bench.must(HcrCommand.WRITE_MTT, 0, 1);
    assertThat(lastAccess()).isEqualTo("read 330000 32");
  }

  @Test
  void completionQueuesAre128BytesApart() {
    bench.map(MapIcm.CONTEXTS, Bench.CQC, Bench.CQC_PAGE, 1);
    assertThat(bench.giveCq(3, 5)).isEqualTo(OK);
    assertThat(lastAccess()).isEqualTo("write 300180 56");
  }

  @Test
  void queryQpAnswersWithoutAPageAndWithoutUsefulData() {
    bench.modify(3, QpcState.RTS);
    assertThat(bench.query(3)).isEqualTo(OK);
    MemorySegment image = bench.out();
    assertThat(QueuePairContext.STATE.get(image)).isZero();
    assertThat(QueuePairContext.LOCAL_QPN.get(image)).isZero();
    assertThat(bench.hex(Bench.OUTBOX + 0xb4, 4)).as("08h from behind").isEqualTo("30000000");
  }

  @Test
  void modifyQpWithoutAnInboxHangsItAsWell() {
    assertThat(bench.command(HcrCommand.ERR2RST.code(), 3, 0, 2, 0)).isEqualTo(OK);
    assertThat(bench.query(2)).isEqualTo(HUNG);
  }

  @Test
  void numbersAliasAt256() {
    var contexts = new ContextManager(HardwareProfile.R2, host(), new Hazards());
    assertThat(contexts.queuePair(0x102)).isSameAs(contexts.queuePair(2));
    assertThat(contexts.completionQueue(0x102)).isSameAs(contexts.completionQueue(2));
  }

  private HostMemory host() {
    HostMemory host = new HostMemory(new Faults(), () -> {});
    host.attach(bench);
    host.enable(true);
    return host;
  }

  @Test
  void accessesAreNotChecked() {
    var translation = new TranslationUnit(HardwareProfile.R2, host(), new Hazards());
    new Mpt(0, 0, 9, 5, 0x1000, 64, 0, 0, 0, 0, 0).encode(bench.in());
    translation.take(9, bench.in());
    assertThat(translation.check(0xab00_0009, 6, 0, 1 << 20, 7)).isEqualTo(Translation.OK);
    assertThat(translation.checkQueue(9, 6, 0, 1 << 20, 7)).isEqualTo(Translation.OK);
  }
}
