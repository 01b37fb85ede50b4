package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.Bench.HUNG;
import static org.hghca.model.rtl.Bench.OK;

import java.util.ArrayList;
import java.util.List;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.MapIcm;
import org.hghca.abi.Mpt;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.ResizeCq;
import org.hghca.abi.WriteMtt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands that stop the card, and which parts continue to work. */
class CommandHangTest {
  private static final int NOP = 0x031;

  private final Bench bench = new Bench();

  @AfterEach
  void close() {
    bench.close();
  }

  private int queryLimits() {
    return bench.command(HcrCommand.QUERY_DEV_LIM, 0, 0);
  }

  private void assertDead() {
    assertThat(queryLimits()).isEqualTo(HUNG);
    assertThat(bench.command(NOP, 0, 0, 0x1f, 0)).isEqualTo(HUNG);
    assertThat(bench.card.hazards()).anyMatch(hazard -> hazard.startsWith("2.3: "));
    bench.card.reset();
    bench.master();
    assertThat(queryLimits()).isEqualTo(OK);
  }

  private int translationCommand() {
    new Mpt(0, 0, 3, 0, 0, 4096, 0, 0, 0, 0, 0).encode(bench.in());
    return bench.command(HcrCommand.SW2HW_MPT, 0, 3);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void modifyQpWithoutInboxHangsTheNextContextCommand(int opModifier) {
    bench.bringUp();
    assertThat(bench.command(HcrCommand.ERR2RST.code(), opModifier, 0, 2, 0)).isEqualTo(OK);
    assertThat(bench.command(NOP, 0, 0, 0x1f, 0)).isEqualTo(Bench.BAD_OP);
    assertThat(queryLimits()).isEqualTo(OK);
    assertThat(translationCommand()).isEqualTo(OK);
    assertThat(bench.command(HcrCommand.HW2SW_CQ, 0, 1)).isEqualTo(HUNG);
    assertDead();
  }

  @ParameterizedTest
  @EnumSource(names = {"QUERY_QP", "RST2INIT", "SW2HW_CQ", "INIT_HCA", "MAP_EQ", "CLOSE_HCA"})
  void everyContextCommandHangsAfterAModifyQpWithoutAnInbox(HcrCommand next) {
    bench.bringUp();
    assertThat(bench.command(HcrCommand.ERR2RST.code(), 3, 0, 2, 0)).isEqualTo(OK);
    assertThat(bench.command(next, 0, 1)).isEqualTo(HUNG);
    assertDead();
  }

  private void resize(int cqn) {
    new ResizeCq(10, 0xdeadbeef).encode(bench.in());
    bench.accesses.clear();
    bench.must(HcrCommand.RESIZE_CQ, 0, cqn);
    assertThat(bench.accesses).containsExactly("read 100000 8");
  }

  @Test
  void afterAResizeCqTheContextIsOverwrittenAndHw2SwCqIsLost() {
    bench.bringUp();
    assertThat(bench.giveCq(3, 6)).isEqualTo(OK);
    resize(3);
    assertThat(queryLimits()).isEqualTo(OK);
    bench.must(HcrCommand.HW2SW_CQ, 0, 3);
    assertThat(bench.hex(Bench.CQC_PAGE + 3 * 64, 56))
        .isEqualTo("00".repeat(24) + "efbeadde0000000a" + "00".repeat(24));
    // The command after it is taken again.
    assertThat(bench.modify(2, 1)).isEqualTo(OK);
    assertThat(bench.query(2)).isEqualTo(OK);
  }

  @Test
  void afterAResizeCqQueryQpHangs() {
    bench.bringUp();
    assertThat(bench.modify(2, 3)).isEqualTo(OK);
    resize(3);
    assertThat(bench.query(2)).isEqualTo(HUNG);
    assertThat(bench.hex(Bench.CQC_PAGE + 3 * 64 + 24, 8)).isEqualTo("efbeadde0000000a");
    assertDead();
  }

  @Test
  void queryQpOfAnUnmappedPageHangs() {
    bench.bringUp();
    assertThat(bench.modify(64, 3)).isEqualTo(OK);
    assertThat(bench.query(63)).isEqualTo(OK);
    assertThat(bench.query(64)).isEqualTo(HUNG);
    assertDead();
  }

  @Test
  void queryQpBeforeInitHcaHangs() {
    assertThat(bench.query(2)).isEqualTo(HUNG);
    assertDead();
  }

  @Test
  void queryQpBeforeMapIcmHangs() {
    bench.initialize();
    assertThat(bench.query(2)).isEqualTo(HUNG);
    assertDead();
  }

  @Test
  void hungCommandKeepsGoAndWritesSucceed() {
    assertThat(bench.query(2)).isEqualTo(HUNG);
    bench.writeInt(Hcr.IN_PARAM_LOW, 0x1234);
    assertThat(bench.readInt(Hcr.IN_PARAM_LOW)).isEqualTo(0x1234);
    assertThat(bench.readInt(Hcr.COMMAND)).isEqualTo(Hcr.command(0x022, 0));
  }

  @Test
  void writeMttOf256ReadsOneGroupAndHangs() {
    bench.bringUp();
    assertThat(bench.command(HcrCommand.WRITE_MTT, 0, 256)).isEqualTo(HUNG);
    assertThat(bench.accesses).containsExactly("read 100000 32");
    assertDead();
  }

  @Test
  void writeMttOf257IsAnsweredAndWritesNothing() {
    bench.bringUp();
    WriteMtt.encode(bench.in(), 0, Bench.FREE);
    assertThat(bench.command(HcrCommand.WRITE_MTT, 0, 257)).isEqualTo(OK);
    assertThat(bench.accesses).containsExactly("read 100000 64");
  }

  @ParameterizedTest
  @CsvSource({"253", "254", "255"})
  void writeMttAcceptsUpTo255(int count) {
    bench.bringUp();
    WriteMtt.encode(bench.in(), 0, count, i -> Bench.FREE + 4096L * i);
    bench.must(HcrCommand.WRITE_MTT, 0, count);
    assertThat(bench.accesses).hasSize(1 + 64).startsWith("read 100000 2080", "read 330000 32");
  }

  private static List<IcmChunk> chunks(long virtual, int count) {
    List<IcmChunk> chunks = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      chunks.add(new IcmChunk(virtual + 4096L * i, Bench.FREE + 4096L * i, 1));
    }
    return chunks;
  }

  private int map(int count) {
    return bench.map(MapIcm.CONTEXTS, chunks(Bench.QPC, count));
  }

  @Test
  void mapIcmOf28ContextPagesWorks() {
    bench.initialize();
    assertThat(map(28)).isEqualTo(OK);
    assertThat(bench.modify(27 * 16, 3)).isEqualTo(OK);
    assertThat(bench.query(27 * 16)).isEqualTo(OK);
    assertThat(QueuePairContext.STATE.get(bench.memory.asSlice(Bench.OUTBOX, 192))).isEqualTo(3);
    assertThat(bench.card.hazards()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {29, 30})
  void mapIcmOfALittleMoreIsAnsweredAndTheNextContextCommandHangs(int count) {
    bench.initialize();
    assertThat(map(count)).isEqualTo(OK);
    assertThat(translationCommand()).isEqualTo(OK);
    assertThat(bench.modify(2, 1)).isEqualTo(HUNG);
    assertDead();
  }

  @ParameterizedTest
  @ValueSource(ints = {31, 32, 33, 100, 254})
  void mapIcmOfMoreHangs(int count) {
    bench.initialize();
    assertThat(map(count)).isEqualTo(HUNG);
    assertDead();
  }

  @ParameterizedTest
  @CsvSource({"255", "256"})
  void mapIcmOf255And256ReadsNothingAndIsAnswered(int count) {
    bench.initialize();
    bench.accesses.clear();
    assertThat(bench.map(MapIcm.TRANSLATION, chunks(Bench.MPT, count))).isEqualTo(OK);
    assertThat(bench.accesses).containsExactly("read 100000 0");
    assertThat(bench.card.icmPages()).isZero();
    assertThat(bench.card.hazards()).singleElement().asString().startsWith("3.3: ");
  }

  private void starve(int count) {
    bench.bringUp();
    bench.accesses.clear();
    assertThat(map(count)).isEqualTo(OK);
    assertThat(bench.accesses).containsExactly("read 100000 0");
    assertThat(bench.card.hazards()).singleElement().asString().startsWith("2.3: ");
  }

  @ParameterizedTest
  @ValueSource(ints = {255, 256})
  void afterAMapIcmOf255Or256ContextPagesQueryQpHangs(int count) {
    starve(count);
    assertThat(translationCommand()).isEqualTo(OK);
    assertThat(queryLimits()).isEqualTo(OK);
    assertThat(bench.query(2)).isEqualTo(HUNG);
    assertDead();
  }

  /** As measured, with 1, 2 and 6 groups of 32 bytes. */
  @ParameterizedTest
  @CsvSource({"HW2SW_CQ, 13", "SW2HW_CQ, 7", "RST2INIT, 2"})
  void afterAMapIcmOf255ContextPagesOthersAreLostAndFinallyHang(HcrCommand next, int answered) {
    starve(255);
    for (int i = 1; i <= answered; i++) {
      assertThat(bench.command(next, 0, i)).isEqualTo(OK);
    }
    assertThat(bench.accesses).as("nothing is written").noneMatch(line -> line.startsWith("write"));
    assertThat(queryLimits()).isEqualTo(OK);
    assertThat(bench.command(next, 0, 1)).isEqualTo(HUNG);
    assertDead();
  }

  @Test
  void inboxAtAnUnmappedAddressHangs() {
    assertThat(bench.command(HcrCommand.INIT_HCA.code(), 0, 0x1000, 0, 0)).isEqualTo(HUNG);
    assertDead();
  }
}
