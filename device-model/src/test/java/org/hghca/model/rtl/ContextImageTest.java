package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.Bench.OK;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.MapIcm;
import org.hghca.abi.QueuePairContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Images of contexts in ICM. */
class ContextImageTest {
  private static final int QPN = 2;
  private static final long IMAGE = Bench.QPC_PAGE + 256 * QPN;

  private final Bench bench = new Bench().bringUp();

  @AfterEach
  void close() {
    bench.close();
  }

  /** Each byte of the inbox is its offset plus a constant. */
  private MemorySegment number(int offset) {
    for (int i = 0; i < 192; i++) {
      bench.in().set(ValueLayout.JAVA_BYTE, i, (byte) (i + offset));
    }
    return bench.in().asSlice(0, 192);
  }

  private byte image(long at) {
    return bench.memory.get(ValueLayout.JAVA_BYTE, at);
  }

  @Test
  void imageIsReversedInGroupsAndEndsAfter164Bytes() {
    bench.memory.asSlice(IMAGE, 256).fill((byte) 0x77);
    number(0);
    bench.must(HcrCommand.RST2INIT, 0, QPN);
    assertThat(bench.accesses).containsExactly("read 100000 192", "write 200200 164");
    for (int i = 0; i < 160; i++) {
      assertThat(image(IMAGE + i)).as("byte %d", i).isEqualTo((byte) (i / 32 * 32 + 31 - i % 32));
    }
    assertThat(bench.hex(IMAGE + 160, 5)).isEqualTo("bfbebdbc77");
  }

  @Test
  void queryQpReturnsTheContextExceptForThePartWithoutAnImage() {
    number(3);
    bench.must(HcrCommand.RST2INIT, 0, QPN);
    String brought = bench.hex(Bench.INBOX, 192);
    bench.accesses.clear();
    assertThat(bench.query(QPN)).isEqualTo(OK);
    assertThat(bench.accesses).containsExactly("read 200200 192", "write 110000 192");
    String answer = bench.hex(Bench.OUTBOX, 193);
    assertThat(answer.substring(0, 2 * 0xa0)).isEqualTo(brought.substring(0, 2 * 0xa0));
    assertThat(answer.substring(2 * 0xa0, 2 * 0xbc)).isEqualTo("00".repeat(0x1c));
    assertThat(answer.substring(2 * 0xbc)).isEqualTo(brought.substring(2 * 0xbc) + "a5");
  }

  @ParameterizedTest
  @EnumSource(
      names = {
        "RST2INIT",
        "INIT2RTR",
        "RTR2RTS",
        "RTS2RTS",
        "SQERR2RTS",
        "ANY2ERR",
        "RTS2SQD",
        "SQD2SQD",
        "SQD2RTS",
        "ERR2RST",
        "INIT2INIT"
      })
  void everyOpcodeReplacesTheWholeContextWhateverTheMask(HcrCommand command) {
    number(3);
    bench.must(HcrCommand.RST2INIT, 0, QPN);
    bench.in().asSlice(0, 192).fill((byte) 0);
    QueuePairContext.OPT_PARAM_MASK.set(bench.in(), 1);
    QueuePairContext.STATE.set(bench.in(), 3);
    bench.must(command, 0, QPN);
    assertThat(bench.query(QPN)).isEqualTo(OK);
    assertThat(bench.hex(Bench.OUTBOX, 192))
        .isEqualTo("00000001" + "00000000" + "30000000" + "00".repeat(180));
  }

  @Test
  void contextWithoutAPageIsSkippedWithoutAnError() {
    assertThat(bench.modify(64, 3)).isEqualTo(OK);
    assertThat(bench.giveCq(256, 6)).isEqualTo(OK);
    assertThat(bench.accesses).containsExactly("read 100000 192", "read 100000 64");
    assertThat(bench.card.hazards()).isEmpty();
  }

  @Test
  void completionQueuesAre64BytesApart() {
    assertThat(bench.giveCq(5, 6)).isEqualTo(OK);
    String brought = bench.hex(Bench.INBOX, 64);
    assertThat(bench.accesses).containsExactly("read 100000 64", "write 300140 56");
    assertThat(brought.substring(24, 32)).isEqualTo("06000000");
    assertThat(bench.hex(Bench.CQC_PAGE + 5 * 64 + 16, 4)).isEqualTo("00000006");
    bench.must(HcrCommand.HW2SW_CQ, 0, 5);
    assertThat(bench.hex(Bench.CQC_PAGE + 5 * 64, 64)).isEqualTo("00".repeat(64));
  }

  @Test
  void eventQueuesAreOnlyStored() {
    number(0);
    bench.must(HcrCommand.SW2HW_EQ, 0, 31);
    bench.must(HcrCommand.MAP_EQ, 0, 31);
    bench.must(HcrCommand.HW2SW_EQ, 0, 31);
    assertThat(bench.accesses)
        .containsExactly("read 100000 64", "write 3107c0 48", "write 3107c0 4", "write 3107c0 48");
  }

  @Test
  void numbersAreNotChecked() {
    assertThat(bench.modify(0xff_ffff, 3)).isEqualTo(OK);
    assertThat(bench.giveCq(-1, 40)).isEqualTo(OK);
    bench.must(HcrCommand.HW2SW_CQ, 0, 77);
    bench.must(HcrCommand.HW2SW_MPT, 0, 77);
    bench.must(HcrCommand.HW2SW_EQ, 0, 400);
  }

  @Test
  void closeHcaDropsTheMapsAndInitHcaDoesNotRestoreThem() {
    assertThat(bench.card.icmPages()).isEqualTo(17);
    bench.must(HcrCommand.CLOSE_HCA, 0, 0);
    assertThat(bench.card.icmPages()).isZero();
    bench.initialize();
    assertThat(bench.card.icmPages()).isZero();
    assertThat(bench.query(QPN)).isEqualTo(Bench.HUNG);
  }

  @Test
  void secondInitHcaKeepsTheMaps() {
    bench.initialize();
    bench.accesses.clear();
    assertThat(bench.modify(QPN, 1)).isEqualTo(OK);
    assertThat(bench.accesses).containsExactly("read 100000 192", "write 200200 164");
  }

  @Test
  void resetClearsEverything() {
    assertThat(bench.modify(QPN, 3)).isEqualTo(OK);
    bench.card.reset();
    assertThat(bench.card.icmPages()).isZero();
    // Bus mastering is off as well: no inbox is read.
    assertThat(bench.modify(QPN, 3)).isEqualTo(Bench.HUNG);
  }

  @Test
  void unmapIcmCountsPages() {
    bench.must(HcrCommand.QUERY_DEV_LIM, 0, 0);
    assertThat(bench.unmap(MapIcm.CONTEXTS, Bench.QPC, 2)).isEqualTo(OK);
    assertThat(bench.card.icmPages()).isEqualTo(15);
    // Ten bits of the number count: these are none.
    assertThat(bench.unmap(MapIcm.CONTEXTS, Bench.QPC, 1024)).isEqualTo(OK);
    assertThat(bench.card.icmPages()).isEqualTo(15);
    assertThat(bench.unmap(MapIcm.CONTEXTS, Bench.CQC + 4096, 257)).isEqualTo(OK);
    assertThat(bench.unmap(MapIcm.TRANSLATION, Bench.MTT, 514)).isEqualTo(OK);
    assertThat(bench.unmap(MapIcm.CONTEXTS, Bench.EQC, 1)).isEqualTo(OK);
    assertThat(bench.card.icmPages()).isEqualTo(11);
    assertThat(bench.query(16)).isEqualTo(Bench.HUNG);
  }
}
