package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.List;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.EventQueueContext;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.InitHca;
import org.hghca.abi.MapIcm;
import org.hghca.abi.Mpt;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.ResizeCq;
import org.hghca.abi.WriteMtt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class CommandTest {
  private static final int OK = 0x00;
  private static final int BAD_OP = 0x02;
  private static final int BAD_PARAM = 0x03;

  private final Host host = Host.open("model:commands?mode=inline");

  @AfterEach
  void close() {
    host.close();
  }

  static String hex(MemorySegment memory, int length) {
    return HexFormat.of().formatHex(memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE));
  }

  @Test
  void deviceLimitsAreThoseOfTheRtlAndTheExtensions() {
    host.out().fill((byte) 0xee);
    host.must(HcrCommand.QUERY_DEV_LIM, 0, 0);
    assertThat(hex(host.out(), 64))
        .isEqualTo(
            "0100000000000000000d00100e0d05110c000001000800000100008000400040"
                + "005000f1000c0000001002000010020012345678876500004867582b010007db");
    assertThat(host.out().get(ValueLayout.JAVA_BYTE, 64)).isEqualTo((byte) 0xee);
  }

  @Test
  void adapterHasTheBoardIdOfTheRtl() {
    host.out().fill((byte) 0xee);
    host.must(HcrCommand.QUERY_ADAPTER, 0, 0);
    assertThat(hex(host.out(), 33)).isEqualTo("00".repeat(24) + "0123456789abcdef" + "ee");
  }

  @Test
  void nopSucceeds() {
    assertThat(host.command(0x031, 0, 0, 0x1f, 0)).isEqualTo(OK);
  }

  @ParameterizedTest
  @ValueSource(ints = {0x000, 0x004, 0x009, 0x00a, 0x00c, 0x023, 0xff6, 0xffc, 0xffd, 0xfff})
  void unknownOpcodesAreRefused(int op) {
    host.bringUp();
    assertThat(host.command(op, 0, host.inbox.iova(0), 1, host.outbox.iova(0))).isEqualTo(BAD_OP);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONF_SPECIAL_QP")
  void missingMailboxesAndInvalidModifiersAreRefused(HcrCommand command) {
    host.bringUp();
    int legal = command.opModifiers().get(0);
    if (command.hasInbox(legal)) {
      assertThat(host.command(command.code(), legal, 0, 1, 0)).isEqualTo(BAD_PARAM);
    }
    if (command.outboxSize() > 0) {
      assertThat(host.command(command.code(), legal, 0, 2, 0)).isEqualTo(BAD_PARAM);
    }
    assertThat(host.command(command.code(), 0x77, host.inbox.iova(0), 1, host.outbox.iova(0)))
        .isEqualTo(BAD_PARAM);
  }

  @ParameterizedTest
  @EnumSource(HcrCommand.class)
  void beforeInitHcaOnlyQueriesSucceed(HcrCommand command) {
    int status = host.command(command, command.opModifiers().get(0), 1);
    assertThat(status)
        .isEqualTo(
            switch (command) {
              case QUERY_DEV_LIM, QUERY_ADAPTER, INIT_HCA, MAD_IFC, NOP -> OK;
              case CONF_SPECIAL_QP -> BAD_OP;
              default -> BAD_PARAM;
            });
  }

  @Test
  void unmappedMailboxIsRefusedAndRecorded() {
    assertThat(host.command(0x007, 0, 0xdead_0000L, 0, 0)).isEqualTo(BAD_PARAM);
    assertThat(host.command(0x003, 0, 0, 0, 0xdead_0000L)).isEqualTo(BAD_PARAM);
    assertThat(host.function.dmaFaults()).hasSize(2);
  }

  @Test
  void nothingIsAccessedWhileBusMasteringIsOff() {
    host.function.configuration().busMaster(false);
    assertThat(host.command(HcrCommand.QUERY_DEV_LIM, 0, 0)).isEqualTo(BAD_PARAM);
    host.function.configuration().busMaster(true);
    assertThat(host.command(HcrCommand.QUERY_DEV_LIM, 0, 0)).isEqualTo(OK);
    assertThat(host.function.dmaFaults()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"15,13,5,14,0", "14,14,5,14,0", "14,13,6,14,0", "14,13,5,18,0", "14,13,5,14,4"})
  void tablesBeyondTheLimitsAreRefused(int qps, int cqs, int eqs, int mpts, long mtt) {
    new InitHca(Host.QPC, qps, Host.CQC, cqs, Host.EQC, eqs, Host.MPT, mpts, mtt).encode(host.in());
    assertThat(host.command(HcrCommand.INIT_HCA, 0, 0)).isEqualTo(BAD_PARAM);
  }

  @Test
  void initHcaSucceedsOnceUntilCloseHca() {
    Host.tables().encode(host.in());
    host.must(HcrCommand.INIT_HCA, 0, 0);
    assertThat(host.command(HcrCommand.INIT_HCA, 0, 0)).isEqualTo(BAD_PARAM);
    host.must(HcrCommand.CLOSE_HCA, 0, 0);
    Host.tables().encode(host.in());
    host.must(HcrCommand.INIT_HCA, 0, 0);
  }

  @Test
  void closeHcaClearsMapsAndEntries() {
    host.bringUp();
    Host.Cq cq = host.cq(3);
    host.must(HcrCommand.CLOSE_HCA, 0, 0);
    Host.tables().encode(host.in());
    host.must(HcrCommand.INIT_HCA, 0, 0);
    new CompletionQueueContext(0, 0, 3, 0, 0, Host.PD, 1, cq.number).encode(host.in());
    assertThat(host.command(HcrCommand.SW2HW_CQ, 0, cq.number)).isEqualTo(BAD_PARAM);
  }

  @Test
  void entriesOfMapIcmAreInPairsTheLaterOneFirst() {
    Host.tables().encode(host.in());
    host.must(HcrCommand.INIT_HCA, 0, 0);
    MemorySegment in = host.in();
    var icm = host.function.allocate(5 * 4096);
    // Three entries: 0 at 10h, 1 at 00h, 2 alone at 30h. Given as bytes.
    in.fill((byte) 0);
    entry(in, 0x10, Host.QPC, icm.iova(0), 1);
    entry(in, 0x00, Host.QPC + 4096, icm.iova(3L * 4096), 2);
    entry(in, 0x30, Host.QPC + 3 * 4096, icm.iova(4096), 1);
    host.must(HcrCommand.MAP_ICM, 1, 3);
    int[] qpns = {0, 16, 32, 48};
    int[] pages = {0, 3, 4, 1};
    for (int i = 0; i < 4; i++) {
      QueuePairContext context = new QueuePairContext();
      context
          .set(QueuePairContext.STATE, QpcState.INIT)
          .set(QueuePairContext.QKEY, 0x1000 + i)
          .encode(in);
      host.must(HcrCommand.RST2INIT, 0, qpns[i]);
      assertThat(QueuePairContext.QKEY.get(icm.segment(), 4096L * pages[i]))
          .as("QP %d", qpns[i])
          .isEqualTo(0x1000 + i);
    }
    new QueuePairContext().set(QueuePairContext.STATE, QpcState.INIT).encode(in);
    assertThat(host.command(HcrCommand.RST2INIT, 0, 64)).isEqualTo(BAD_PARAM);
  }

  private static void entry(MemorySegment in, int at, long virt, long page, int count) {
    var bigEndian = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(java.nio.ByteOrder.BIG_ENDIAN);
    in.set(bigEndian, at, virt);
    in.set(bigEndian, at + 8, page | count);
  }

  @Test
  void unmapIcmRemovesExactlyTheCountedPages() {
    host.bringUp();
    SoftwareHca hca = host.hca();
    int before = hca.icmPages();
    assertThat(host.command(0xff9, 1, Host.QPC + 4096, 2, 0)).isEqualTo(OK);
    assertThat(hca.icmPages()).isEqualTo(before - 2);
    int[] lost = {16, 47};
    int[] kept = {15, 48};
    for (int qpn : lost) {
      new QueuePairContext().set(QueuePairContext.STATE, 1).encode(host.in());
      assertThat(host.command(HcrCommand.RST2INIT, 0, qpn)).isEqualTo(BAD_PARAM);
    }
    for (int qpn : kept) {
      new QueuePairContext().set(QueuePairContext.STATE, 1).encode(host.in());
      assertThat(host.command(HcrCommand.RST2INIT, 0, qpn)).isEqualTo(OK);
    }
  }

  @Test
  void mapIsLimited() {
    host.bringUp();
    int mapped = host.hca().icmPages();
    int status = 0;
    for (int i = 0; status == OK && i < 2000; i++) {
      MapIcm.encode(host.in(), List.of(new IcmChunk(0x1000_0000_0000L * (i + 1), 0x10000, 4095)));
      status = host.command(HcrCommand.MAP_ICM, 2, 1);
    }
    assertThat(status).isEqualTo(BAD_PARAM);
    assertThat(host.hca().icmPages() - mapped).isLessThanOrEqualTo(1 << 22);
  }

  @ParameterizedTest
  @CsvSource({"0,0", "257,0", "1,8"})
  void mapIcmChecksCountAndAlignment(int count, long offset) {
    host.bringUp();
    MapIcm.encode(host.in(), List.of(new IcmChunk(Host.QPC + offset, 0x10000, 1)));
    assertThat(host.command(HcrCommand.MAP_ICM, 1, count)).isEqualTo(BAD_PARAM);
  }

  @Test
  void mptEntryIsTakenOnceAndReturnedOnce() {
    host.bringUp();
    mpt(0, 9).encode(host.in());
    host.must(HcrCommand.SW2HW_MPT, 0, 9);
    assertThat(host.command(HcrCommand.SW2HW_MPT, 0, 9)).isEqualTo(BAD_PARAM);
    host.must(HcrCommand.HW2SW_MPT, 0, 9);
    assertThat(host.command(HcrCommand.HW2SW_MPT, 0, 9)).isEqualTo(BAD_PARAM);
    mpt(0, 9).encode(host.in());
    host.must(HcrCommand.SW2HW_MPT, 0, 9);
  }

  @Test
  void mptEntryMustFitItsIndexAndBelongToHardware() {
    host.bringUp();
    mpt(0, 9).encode(host.in());
    assertThat(host.command(HcrCommand.SW2HW_MPT, 0, 10)).isEqualTo(BAD_PARAM);
    assertThat(host.command(HcrCommand.SW2HW_MPT, 0, 1024)).isEqualTo(BAD_PARAM);
    assertThat(host.command(HcrCommand.SW2HW_MPT, 0, -1)).isEqualTo(BAD_PARAM);
    mpt(0xf << 28, 9).encode(host.in());
    assertThat(host.command(HcrCommand.SW2HW_MPT, 0, 9)).isEqualTo(BAD_PARAM);
    // A key's index is its low bits: 10 of them here.
    mpt(0, 0xab00_0009).encode(host.in());
    assertThat(host.command(HcrCommand.SW2HW_MPT, 0, 9)).isEqualTo(OK);
  }

  private static Mpt mpt(int flags, int key) {
    return new Mpt(flags, 0, key, Host.PD, 0, 4096, 0, 0, 0, 0, 0);
  }

  @Test
  void mptEntryIsInIcmAsItWasGiven() {
    host.bringUp();
    mpt(7, 9).encode(host.in());
    host.must(HcrCommand.SW2HW_MPT, 0, 9);
    MemorySegment entry = host.icm.segment().asSlice(20 * 4096 + 9 * 64, 64);
    assertThat(hex(entry, 64)).isEqualTo(hex(host.in(), 64));
    host.must(HcrCommand.HW2SW_MPT, 0, 9);
    assertThat(Mpt.FLAGS.get(entry)).isEqualTo(0xf000_0007);
  }

  @Test
  void writeMttPutsEntriesInOrderFromTheirIndex() {
    host.bringUp();
    MemorySegment in = host.in();
    in.fill((byte) 0);
    var bigEndian = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(java.nio.ByteOrder.BIG_ENDIAN);
    // Five entries from index 7 on: 0 to 3 are in reverse order from 38h, 4 is at 58h.
    in.set(bigEndian, 0x18, 7);
    in.set(bigEndian, 0x38, 0x1000);
    in.set(bigEndian, 0x30, 0x2000);
    in.set(bigEndian, 0x28, 0x3000);
    in.set(bigEndian, 0x20, 0x4000);
    in.set(bigEndian, 0x58, 0x5000);
    host.must(HcrCommand.WRITE_MTT, 0, 5);
    MemorySegment table = host.icm.segment().asSlice(40 * 4096 + 7 * 8, 40);
    for (int i = 0; i < 5; i++) {
      assertThat(table.get(bigEndian, 8L * i)).isEqualTo(0x1000L * (i + 1));
    }
  }

  @ParameterizedTest
  @CsvSource({"0,0", "256,0", "1,4096", "1,-1", "1,1099511627776"})
  void writeMttChecksCountAndIndex(int count, long index) {
    host.bringUp();
    WriteMtt.encode(host.in(), index, 0x1000);
    assertThat(host.command(HcrCommand.WRITE_MTT, 0, count)).isEqualTo(BAD_PARAM);
  }

  @Test
  void completionQueuesAreCheckedAndOwned() {
    host.bringUp();
    cqc(3).encode(host.in());
    assertThat(host.command(HcrCommand.HW2SW_CQ, 0, 3)).isEqualTo(BAD_PARAM);
    host.must(HcrCommand.SW2HW_CQ, 0, 3);
    cqc(3).encode(host.in());
    assertThat(host.command(HcrCommand.SW2HW_CQ, 0, 3)).isEqualTo(BAD_PARAM);
    assertThat(host.command(HcrCommand.SW2HW_CQ, 0, 64)).isEqualTo(BAD_PARAM);
    assertThat(host.command(HcrCommand.SW2HW_CQ, 0, -1)).isEqualTo(BAD_PARAM);
    cqc(17).encode(host.in());
    assertThat(host.command(HcrCommand.SW2HW_CQ, 0, 4)).isEqualTo(BAD_PARAM);
    host.must(HcrCommand.HW2SW_CQ, 0, 3);
  }

  private static CompletionQueueContext cqc(int logSize) {
    return new CompletionQueueContext(0, 0, logSize, 0, 0, Host.PD, 1, 3);
  }

  @Test
  void resizeNeedsACompletionQueue() {
    host.bringUp();
    new ResizeCq(4, 1).encode(host.in());
    assertThat(host.command(HcrCommand.RESIZE_CQ, 0, 3)).isEqualTo(BAD_PARAM);
    Host.Cq cq = host.cq(3);
    new ResizeCq(17, 1).encode(host.in());
    assertThat(host.command(HcrCommand.RESIZE_CQ, 0, cq.number)).isEqualTo(BAD_PARAM);
    new ResizeCq(4, 1).encode(host.in());
    host.must(HcrCommand.RESIZE_CQ, 0, cq.number);
  }

  @Test
  void eventQueuesAreOwnedBeforeTheyAreMapped() {
    host.bringUp();
    assertThat(host.command(0x012, 0, 0xff, 1, 0)).isEqualTo(BAD_PARAM);
    new EventQueueContext(0, 0, 4, 0, Host.PD, 1, 0, 0).encode(host.in());
    host.must(HcrCommand.SW2HW_EQ, 0, 1);
    assertThat(host.command(HcrCommand.SW2HW_EQ, 0, 1)).isEqualTo(BAD_PARAM);
    assertThat(host.command(HcrCommand.SW2HW_EQ, 0, 32)).isEqualTo(BAD_PARAM);
    assertThat(host.command(0x012, 0, 0xff, 1, 0)).isEqualTo(OK);
    assertThat(host.command(0x012, 0, 0xff, 1 << 31 | 1, 0)).isEqualTo(OK);
    host.must(HcrCommand.HW2SW_EQ, 0, 1);
    assertThat(host.command(0x012, 0, 0xff, 1, 0)).isEqualTo(BAD_PARAM);
  }

  @ParameterizedTest
  @CsvSource({
    "INIT2RTR, 2",
    "RTR2RTS, 3",
    "RTS2RTS, 3",
    "SQERR2RTS, 3",
    "RTS2SQD, 5",
    "SQD2SQD, 5",
    "SQD2RTS, 3",
    "INIT2INIT, 1"
  })
  void transitionsNeedTheirStartState(HcrCommand command, int target) {
    host.bringUp();
    Host.Qp qp = host.qp();
    assertThat(qp.modify(command, target)).isEqualTo(BAD_PARAM);
    assertThat(qp.modify(HcrCommand.RST2INIT, 1)).isEqualTo(OK);
    if (command != HcrCommand.INIT2RTR && command != HcrCommand.INIT2INIT) {
      assertThat(qp.modify(command, target)).isEqualTo(BAD_PARAM);
    }
    assertThat(qp.state()).isEqualTo(1);
  }

  @Test
  void transitionsNeedTheirTargetState() {
    host.bringUp();
    Host.Qp qp = host.qp();
    assertThat(qp.modify(HcrCommand.RST2INIT, 3)).isEqualTo(BAD_PARAM);
    assertThat(qp.modify(HcrCommand.ANY2ERR, 0)).isEqualTo(BAD_PARAM);
    assertThat(qp.modify(HcrCommand.ERR2RST, 6)).isEqualTo(BAD_PARAM);
  }

  @Test
  void allTransitionsUpToRtsSucceed() {
    host.bringUp();
    Host.Qp qp = host.qp();
    qp.peer(host, qp);
    HcrCommand[] commands = {
      HcrCommand.RST2INIT, HcrCommand.INIT2INIT, HcrCommand.INIT2RTR, HcrCommand.RTR2RTS,
      HcrCommand.RTS2RTS, HcrCommand.RTS2SQD, HcrCommand.SQD2SQD, HcrCommand.SQD2RTS,
      HcrCommand.ANY2ERR, HcrCommand.ANY2ERR, HcrCommand.ERR2RST, HcrCommand.ERR2RST
    };
    int[] states = {1, 1, 2, 3, 3, 5, 5, 3, 6, 6, 0, 0};
    for (int i = 0; i < commands.length; i++) {
      assertThat(qp.modify(commands[i], states[i])).as("%s", commands[i]).isEqualTo(OK);
      assertThat(qp.state()).isEqualTo(states[i]);
    }
  }

  @Test
  void resetNeedsNoMailbox() {
    host.bringUp();
    Host.Qp qp = host.qp();
    assertThat(qp.modify(HcrCommand.RST2INIT, 1)).isEqualTo(OK);
    assertThat(host.command(0x021, 3, 0, qp.number, 0)).isEqualTo(OK);
    assertThat(qp.state()).isZero();
    assertThat(qp.query()).hasToString("QPC ");
  }

  @Test
  void invalidMtuIsRefused() {
    host.bringUp();
    Host.Qp qp = host.qp();
    qp.modify(HcrCommand.RST2INIT, 1);
    qp.context.set(QueuePairContext.MTU, 6);
    assertThat(qp.modify(HcrCommand.INIT2RTR, 2)).isEqualTo(BAD_PARAM);
    qp.context.set(QueuePairContext.MTU, 0);
    assertThat(qp.modify(HcrCommand.INIT2RTR, 2)).isEqualTo(BAD_PARAM);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4, 255})
  void unsupportedServicesAreRefused(int service) {
    host.bringUp();
    Host.Qp qp = host.qp();
    qp.context.set(QueuePairContext.SERVICE_TYPE, service);
    assertThat(qp.modify(HcrCommand.RST2INIT, 1)).isEqualTo(BAD_PARAM);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3})
  void queuePairKeepsItsServiceUntilReset(int service) {
    host.bringUp();
    Host.Qp qp = host.qp();
    qp.context.set(QueuePairContext.SERVICE_TYPE, service);
    assertThat(qp.modify(HcrCommand.RST2INIT, 1)).isZero();
    for (int other : new int[] {0, 1, 3}) {
      qp.context.set(QueuePairContext.SERVICE_TYPE, other);
      assertThat(qp.modify(HcrCommand.INIT2INIT, 1)).isEqualTo(other == service ? 0 : BAD_PARAM);
    }
    assertThat(qp.modify(HcrCommand.ERR2RST, 0)).isZero();
    qp.context.set(QueuePairContext.SERVICE_TYPE, (service + 1) % 2);
    assertThat(qp.modify(HcrCommand.RST2INIT, 1)).isZero();
  }

  @Test
  void queryQpReturnsTheContextAsItWasGiven() {
    host.bringUp();
    Host.Qp qp = host.qp();
    qp.peer(host, qp);
    qp.toRtr();
    assertThat(qp.query()).hasToString(qp.context.toString());
    assertThat(host.command(0x022, 0, 0, 256, host.outbox.iova(0))).isEqualTo(BAD_PARAM);
  }

  @Test
  void portInfoReportsTheCable() {
    host.must(HcrCommand.MAD_IFC, 1, 0);
    assertThat(hex(host.out(), 32)).isEqualTo("00010102" + "00".repeat(28));
    try (Pair pair = new Pair()) {
      pair.left.must(HcrCommand.MAD_IFC, 1, 0);
      assertThat(hex(pair.left.out(), 32)).isEqualTo("00010405" + "00".repeat(28));
      pair.right.close();
      pair.left.must(HcrCommand.MAD_IFC, 1, 0);
      assertThat(hex(pair.left.out(), 32)).isEqualTo("00010102" + "00".repeat(28));
    }
  }
}
