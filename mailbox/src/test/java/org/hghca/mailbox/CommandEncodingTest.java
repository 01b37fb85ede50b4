package org.hghca.mailbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.hghca.abi.AdapterInfo;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.EventQueueContext;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.InitHca;
import org.hghca.abi.Mpt;
import org.hghca.abi.PortInfo;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.ResizeCq;
import org.hghca.mailbox.FakeHcr.Issued;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Each command of table 3-2-1 as the card receives it; all literals are the interface document's.
 */
class CommandEncodingTest {
  private final FakeHcr hcr = new FakeHcr();
  private final CommandInterface commands = CommandInterface.open(hcr.function, HardwareProfile.S);

  @Test
  void queryDeviceLimits() {
    hcr.outbox =
        "0100000000000000000d000d0e0d050e0c000001000800000100008000400040"
            + "005000f1000c0000001002000010020012345678876500000000000000000000";

    DeviceLimits limits = commands.queryDeviceLimits();

    assertOutboxOnly(hcr.only(), 0x00800003, 0);
    assertThat(limits.reservedQpsLog()).isEqualTo(1);
    assertThat(limits.maxQpsLog()).isEqualTo(14);
    assertThat(limits.maxCqsLog()).isEqualTo(13);
    assertThat(limits.qpcEntrySize()).isEqualTo(256);
    assertThat(limits.cqcEntrySize()).isEqualTo(128);
    assertThat(limits.maxDescSizeRq()).isEqualTo(512);
    assertThat(limits.maxIcmSize()).isEqualTo(0x1234_5678_8765_0000L);
  }

  @Test
  void queryAdapter() {
    hcr.outbox = "00".repeat(24) + "0123456789abcdef";

    AdapterInfo adapter = commands.queryAdapter();

    assertOutboxOnly(hcr.only(), 0x00800006, 0);
    assertThat(adapter.boardId()).isEqualTo(0x0123_4567_89ab_cdefL);
  }

  @Test
  void initHca() {
    commands.initHca(
        new InitHca(
            0x1_0040_0000L,
            14,
            0x1_0080_0000L,
            13,
            0x1_0090_0000L,
            5,
            0x1_00a0_0000L,
            14,
            0x1_0200_0000L));

    assertInbox(
        hcr.only(),
        0x00800007,
        0,
        "00000000 00000000 00000001 0040000e 00000001 0080000d 00000001 00900005"
            + "00000000 00000000 00000000 00000000 00000001 00a0000e 00000001 02000000");
  }

  @Test
  void closeHca() {
    commands.closeHca();

    assertNoMailbox(hcr.only(), 0x00800008, 0, 0);
  }

  @Test
  void mapIcmOfOneEntryIsInTheHigherHalfOfItsGroup() {
    commands.mapIcm(1, List.of(new IcmChunk(0x40_0000L, 0x7_1234_5000L, 3)));

    assertInbox(
        hcr.only(),
        0x00801ffa,
        1,
        "00000000000000000000000000000000" + "00000000004000000000000712345003");
  }

  @Test
  void mapIcmOfThreeEntriesPutsTheLaterOfAGroupFirst() {
    commands.mapIcm(
        2,
        List.of(
            new IcmChunk(0xa0_0000L, 0x1_0000L, 1),
            new IcmChunk(0xa0_1000L, 0x3_0000L, 2),
            new IcmChunk(0xa0_3000L, 0x5_0000L, 4)));

    assertInbox(
        hcr.only(),
        0x00802ffa,
        3,
        "0000000000a010000000000000030002"
            + "0000000000a000000000000000010001"
            + "00000000000000000000000000000000"
            + "0000000000a030000000000000050004");
  }

  @Test
  void unmapIcm() {
    commands.unmapIcm(2, 0x1_00a0_3000L, 7);

    assertNoMailbox(hcr.only(), 0x00802ff9, 7, 0x1_00a0_3000L);
  }

  @Test
  void sw2hwMpt() {
    commands.sw2hwMpt(
        0x33,
        new Mpt(
            0x0002_0107,
            0,
            0xabc0_8033,
            0x11,
            0x7f00_0000_1000L,
            0x2_0000_3000L,
            0,
            0,
            0,
            0x5_0000_0009L,
            0));

    assertInbox(
        hcr.only(),
        0x0080000d,
        0x33,
        "00020107 00000000 abc08033 00000011 00007f00 00001000 00000002 00003000"
            + "00000000 00000000 00000000 00000005 00000009 00000000 00000000 00000000");
  }

  @Test
  void hw2swMpt() {
    commands.hw2swMpt(0x33);

    assertNoMailbox(hcr.only(), 0x0080000f, 0x33, 0);
  }

  @Test
  void writeMttFillsAPartialGroupFromItsEnd() {
    commands.writeMtt(0x1_0000_0005L, 5, i -> 0x10_0000_0000L + i * 0x1000);

    assertInbox(
        hcr.only(),
        0x00800011,
        5,
        "00".repeat(24)
            + "0000000100000005"
            + "0000001000003000 0000001000002000 0000001000001000 0000001000000000"
            + "00".repeat(24)
            + "0000001000004000");
  }

  @ParameterizedTest
  @CsvSource({"1, 64", "4, 64", "5, 96", "255, 2080"})
  void writeMttFillsNoMoreThanTheCardReads(int count, int bytes) {
    commands.writeMtt(0, count, i -> 0xffff_ffff_ffff_f000L);

    Issued issued = hcr.only();
    assertThat(issued.inModifier()).isEqualTo(count);
    assertThat(issued.inbox(bytes - 8, bytes)).isEqualTo("fffffffffffff000");
    assertThat(issued.zeroFrom(bytes)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"0", "256", "257", "-1"})
  void writeMttOfACountThatHangsTheCardIsNotIssued(int count) {
    hcr.accesses.clear();

    assertThatThrownBy(() -> commands.writeMtt(0, count, i -> 0))
        .isInstanceOf(UnsupportedCommandException.class)
        .hasMessageContaining("1 to 255");
    assertThat(hcr.accesses).isEmpty();
  }

  @Test
  void mapEqSets() {
    commands.mapEq(5, false, 0x3033cL);

    assertNoMailbox(hcr.only(), 0x00800012, 5, 0x3033cL);
  }

  @Test
  void mapEqClears() {
    commands.mapEq(5, true, 1L << 0x11);

    assertNoMailbox(hcr.only(), 0x00800012, 0x8000_0005, 0x20000L);
  }

  @Test
  void sw2hwEq() {
    commands.sw2hwEq(
        3, new EventQueueContext(0x0104_0100, 0x1_0000_2000L, 8, 0x2a, 7, 0x1c, 0x50, 0x60));

    assertInbox(
        hcr.only(),
        0x00800013,
        3,
        "01040100 00000001 00002000 08000000 00000000 0000002a 00000007 0000001c"
            + "00000000 00000000 00000050 00000060");
  }

  @Test
  void hw2swEq() {
    commands.hw2swEq(3);

    assertNoMailbox(hcr.only(), 0x00800014, 3, 0);
  }

  @Test
  void sw2hwCq() {
    commands.sw2hwCq(
        0x1234,
        new CompletionQueueContext(0x0004_0000, 0x1_0000_2000L, 13, 0x7ff, 3, 9, 0x15, 0x1234));

    assertInbox(
        hcr.only(),
        0x00800016,
        0x1234,
        "00040000 00000001 00002000 0d0007ff 00000003 00000009 00000015 00000000"
            + "00000000 00000000 00000000 00001234");
  }

  @Test
  void hw2swCq() {
    commands.hw2swCq(0x1234);

    assertNoMailbox(hcr.only(), 0x00800017, 0x1234, 0);
  }

  @Test
  void resizeCq() {
    commands.resizeCq(0x1234, new ResizeCq(10, 0xdead_beef));

    assertInbox(hcr.only(), 0x0080002c, 0x1234, "0a000000deadbeef");
  }

  @ParameterizedTest
  @CsvSource({
    "RST2INIT, 0x19",
    "INIT2RTR, 0x1a",
    "RTR2RTS, 0x1b",
    "RTS2RTS, 0x1c",
    "SQERR2RTS, 0x1d",
    "ANY2ERR, 0x1e",
    "RTS2SQD, 0x1f",
    "SQD2SQD, 0x38",
    "SQD2RTS, 0x20",
    "ERR2RST, 0x21",
    "INIT2INIT, 0x2d",
  })
  void modifyQpCarriesTheWholeContext(HcrCommand transition, String opcode) {
    QueuePairContext context = new QueuePairContext();
    context.set(QueuePairContext.STATE, 3);
    context.set(QueuePairContext.REMOTE_QPN, 0x030201);
    context.set(QueuePairContext.RECEIVE_WQE_LENGTH, 0x2000);

    commands.modifyQp(transition, 0x47, context);

    assertInbox(
        hcr.only(),
        0x0080_0000 | Integer.decode(opcode),
        0x47,
        "00000000 00000000 30000000 00000000 00000000 00000000 00030201"
            + "00".repeat(0x94 - 0x1c)
            + "00002000");
  }

  @Test
  void modifyQpTakesNoOtherCommand() {
    assertThatThrownBy(() -> commands.modifyQp(HcrCommand.QUERY_QP, 2, new QueuePairContext()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("QUERY_QP");
    assertThat(hcr.issued).isEmpty();
  }

  @Test
  void resetQpHasNoInbox() {
    commands.resetQp(0x47);

    assertNoMailbox(hcr.only(), 0x00803021, 0x47, 0);
  }

  @Test
  void queryQp() {
    hcr.outbox = "00".repeat(8) + "30020000" + "00".repeat(192 - 16) + "00070009";

    QueuePairContext context = commands.queryQp(0x47);

    assertOutboxOnly(hcr.only(), 0x00800022, 0x47);
    assertThat(context.get(QueuePairContext.STATE)).isEqualTo(3);
    assertThat(context.get(QueuePairContext.SERVICE_TYPE)).isEqualTo(2);
    assertThat(context.get(QueuePairContext.RQ_WQE_COUNTER)).isEqualTo(7);
    assertThat(context.get(QueuePairContext.SQ_WQE_COUNTER)).isEqualTo(9);
  }

  @Test
  void confSpecialQp() {
    commands.confSpecialQp(1);

    assertNoMailbox(hcr.only(), 0x00800023, 1, 0);
  }

  @Test
  void madIfc() {
    hcr.outbox = "00010203";

    PortInfo port = commands.madIfc();

    assertOutboxOnly(hcr.only(), 0x00801024, 0);
    assertThat(port).isEqualTo(new PortInfo(1, 2, 3));
  }

  @Test
  void nop() {
    commands.nop();

    assertNoMailbox(hcr.only(), 0x00800031, 0x1f, 0);
  }

  @Test
  void nopUnknownToTheCardProvesThatItAnswers() {
    hcr.status = 2;

    assertThatCode(commands::nop).doesNotThrowAnyException();
  }

  @Test
  void nopWithAnotherStatusIsAFailure() {
    hcr.status = 4;

    assertThatThrownBy(commands::nop)
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("BAD_SYS_STATE");
  }

  @Test
  void commandsThatHangTheRtlAreNotIssued() {
    FakeHcr rtl = new FakeHcr(0);
    CommandInterface r1 = CommandInterface.open(rtl.function, HardwareProfile.R1);
    rtl.accesses.clear();
    IcmChunk page = new IcmChunk(0x1000, 0x1_0000, 1);

    assertThatThrownBy(() -> r1.resizeCq(1, new ResizeCq(4, 1)))
        .isInstanceOf(UnsupportedCommandException.class)
        .hasMessageContaining("RESIZE_CQ");
    assertThatThrownBy(() -> r1.resetQp(1))
        .isInstanceOf(UnsupportedCommandException.class)
        .hasMessageContaining("MODIFY_QP without an inbox");
    assertThatThrownBy(() -> r1.mapIcm(1, List.of(page, page)))
        .isInstanceOf(UnsupportedCommandException.class)
        .hasMessageContaining("MAP_ICM of 2 entries");
    assertThatThrownBy(() -> r1.mapIcm(1, List.of(new IcmChunk(0x1000, 0x1_0000, 1025))))
        .isInstanceOf(UnsupportedCommandException.class)
        .hasMessageContaining("1025 pages");
    assertThat(rtl.accesses).isEmpty();
    assertThatCode(() -> r1.mapIcm(1, List.of(page))).doesNotThrowAnyException();
  }

  @Test
  void rtlHcrIsAtTheStartOfTheRegion() {
    FakeHcr rtl = new FakeHcr(0);
    CommandInterface r2 = CommandInterface.open(rtl.function, HardwareProfile.R2);

    r2.hw2swMpt(9);

    assertNoMailbox(rtl.only(), 0x0080000f, 9, 0);
  }

  @Test
  void argumentThatDoesNotFitItsFieldWritesNothing() {
    hcr.accesses.clear();

    assertThatThrownBy(() -> commands.resizeCq(1, new ResizeCq(256, 1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("logsize");
    assertThatThrownBy(() -> commands.mapIcm(1, List.of()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(hcr.accesses).isEmpty();
    commands.queryAdapter();
    assertThat(hcr.function.allocations()).isEqualTo(1);
  }

  private static void assertNoMailbox(Issued issued, int dword6, int inModifier, long inParam) {
    assertThat(issued.dword6()).isEqualTo(dword6);
    assertThat(issued.inModifier()).isEqualTo(inModifier);
    assertThat(issued.inParam()).isEqualTo(inParam);
    assertThat(issued.outParam()).isZero();
    assertThat(issued.token()).isEqualTo(0xffff0000);
  }

  private static void assertOutboxOnly(Issued issued, int dword6, int inModifier) {
    assertThat(issued.dword6()).isEqualTo(dword6);
    assertThat(issued.inModifier()).isEqualTo(inModifier);
    assertThat(issued.inParam()).isZero();
    assertThat(issued.outParam()).isNotZero();
    assertThat(issued.outParam() % 4096).isZero();
    assertThat(issued.token()).isEqualTo(0xffff0000);
  }

  /** The inbox starts with these bytes, without their blanks, and is zero after them. */
  private static void assertInbox(Issued issued, int dword6, int inModifier, String literal) {
    String bytes = literal.replace(" ", "");
    assertThat(issued.dword6()).isEqualTo(dword6);
    assertThat(issued.inModifier()).isEqualTo(inModifier);
    assertThat(issued.inParam()).isNotZero();
    assertThat(issued.inParam() % 4096).isZero();
    assertThat(issued.outParam()).isZero();
    assertThat(issued.token()).isEqualTo(0xffff0000);
    assertThat(issued.inbox(0, bytes.length() / 2)).isEqualTo(bytes);
    assertThat(issued.zeroFrom(bytes.length() / 2)).isTrue();
  }
}
