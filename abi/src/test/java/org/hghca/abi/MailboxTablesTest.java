package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.abi.FieldRow.row;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Interface document, tables 3-2-3 to 3-2-42: the mailboxes. */
class MailboxTablesTest {
  private static final String ALL32 = "ffffffff";
  private static final String ALL64 = "ffffffffffffffff";
  private static final String HIGH56 = "ffffffffffffff00";

  /**
   * A table.
   *
   * @param number as in the document
   * @param layout abi's layout of the mailbox
   * @param size in bytes
   */
  record Table(String number, MailboxLayout layout, int size, List<FieldRow> rows) {
    @Override
    public String toString() {
      return "table " + number + ", " + layout.name();
    }
  }

  static Stream<Table> tables() {
    return Stream.of(
        new Table("3-2-3", DeviceLimits.LAYOUT, 64, deviceLimits()),
        new Table("3-2-6", AdapterInfo.LAYOUT, 32, adapter()),
        new Table("3-2-9", InitHca.LAYOUT, 64, initHca()),
        new Table("3-2-14", MapIcm.ENTRY, 16, mapIcm()),
        new Table("3-2-17", Mpt.LAYOUT, 64, mpt()),
        new Table("3-2-22", WriteMtt.HEADER, 32, writeMtt()),
        new Table("3-2-27", EventQueueContext.LAYOUT, 64, eventQueue()),
        new Table("3-2-32", CompletionQueueContext.LAYOUT, 64, completionQueue()),
        new Table("3-2-37", ResizeCq.LAYOUT, 32, resizeCq()),
        new Table("3-2-40", QueuePairContext.LAYOUT, 192, QueuePairTable.fields()),
        new Table("of the extension PORT_INFO", PortInfo.LAYOUT, 32, portInfo()));
  }

  private static List<FieldRow> deviceLimits() {
    return List.of(
        row("reserved_qp", DeviceLimits.RESERVED_QPS, 0x00, "ff000000", "0a000000"),
        row("reserved_cq", DeviceLimits.RESERVED_CQS, 0x00, "00ff0000", "000b0000"),
        row("reserved_eq", DeviceLimits.RESERVED_EQS, 0x00, "0000ff00", "00000c00"),
        row("reserved_mtt", DeviceLimits.RESERVED_MTTS, 0x00, "000000ff", "0000000d"),
        row("reserved_pd", DeviceLimits.RESERVED_PDS, 0x04, "00ff0000", "00090000"),
        row("reserved_lkey", DeviceLimits.RESERVED_LKEYS, 0x04, "000000ff", "00000007"),
        row("max_qp_sz", DeviceLimits.MAX_QP_SIZE, 0x08, "ffff0000", "12340000"),
        row("max_cq_sz", DeviceLimits.MAX_CQ_SIZE, 0x08, "0000ffff", "00005678"),
        row("max_qps", DeviceLimits.MAX_QPS, 0x0c, "ff000000", "1e000000"),
        row("max_cqs", DeviceLimits.MAX_CQS, 0x0c, "00ff0000", "001d0000"),
        row("max_eqs", DeviceLimits.MAX_EQS, 0x0c, "0000ff00", "00000500"),
        row("max_mpts", DeviceLimits.MAX_MPTS, 0x0c, "000000ff", "0000002e"),
        row("max_pds", DeviceLimits.MAX_PDS, 0x10, "ff000000", "2c000000"),
        row("max_gids", DeviceLimits.MAX_GIDS, 0x10, "0000ff00", "00000b00"),
        row("max_pkeys", DeviceLimits.MAX_PKEYS, 0x10, "000000ff", "00000007"),
        row("max_mtt_seg", DeviceLimits.MTT_ENTRY_SIZE, 0x14, "00ff0000", "00080000"),
        row("qpc_entry_sz", DeviceLimits.QPC_ENTRY_SIZE, 0x18, "ffff0000", "01000000"),
        row("cqc_entry_sz", DeviceLimits.CQC_ENTRY_SIZE, 0x18, "0000ffff", "00000080"),
        row("eqc_entry_sz", DeviceLimits.EQC_ENTRY_SIZE, 0x1c, "ffff0000", "00400000"),
        row("mpt_entry_sz", DeviceLimits.MPT_ENTRY_SIZE, 0x1c, "0000ffff", "00000040"),
        row("ack_delay", DeviceLimits.ACK_DELAY, 0x20, "0f000000", "0a000000"),
        row("max_mtu", DeviceLimits.MAX_MTU, 0x20, "00f00000", "00500000"),
        row("max_port_width", DeviceLimits.MAX_PORT_WIDTH, 0x20, "000f0000", "00040000"),
        row("max_vl", DeviceLimits.MAX_VL, 0x20, "000000f0", "000000f0"),
        row("num_ports", DeviceLimits.PORTS, 0x20, "0000000f", "00000002"),
        row("min_page_sz", DeviceLimits.MIN_PAGE_SIZE, 0x24, "00ff0000", "000c0000"),
        row("max_sg", DeviceLimits.MAX_SG, 0x28, "00ff0000", "00100000"),
        row("max_desc_sz", DeviceLimits.MAX_DESC_SIZE, 0x28, "0000ffff", "00000200"),
        row("max_sg_rq", DeviceLimits.MAX_SG_RQ, 0x2c, "00ff0000", "001e0000"),
        row("max_desc_sz_rq", DeviceLimits.MAX_DESC_SIZE_RQ, 0x2c, "0000ffff", "00000400"),
        row("max_icm_sz", DeviceLimits.MAX_ICM_SIZE, 0x30, ALL64, "1234567887650000"));
  }

  private static List<FieldRow> adapter() {
    return List.of(row("board_id", AdapterInfo.BOARD_ID, 0x18, ALL64, "0123456789abcdef"));
  }

  private static List<FieldRow> initHca() {
    return List.of(
        row("qpc_base", InitHca.QPC_BASE, 0x08, HIGH56, "1122334455667700"),
        row("log_num_qps", InitHca.LOG_QPS, 0x0c, "000000ff", "0000000e"),
        row("cqc_base", InitHca.CQC_BASE, 0x10, HIGH56, "2233445566778800"),
        row("log_num_cqs", InitHca.LOG_CQS, 0x14, "000000ff", "0000000d"),
        row("eqc_base", InitHca.EQC_BASE, 0x18, HIGH56, "3344556677889900"),
        row("log_num_eqs", InitHca.LOG_EQS, 0x1c, "000000ff", "00000005"),
        row("mpt_base", InitHca.MPT_BASE, 0x30, HIGH56, "445566778899aa00"),
        row("log_mpt_sz", InitHca.LOG_MPTS, 0x34, "000000ff", "00000012"),
        row("mtt_base", InitHca.MTT_BASE, 0x38, ALL64, "5566778899aabbcc"));
  }

  private static List<FieldRow> mapIcm() {
    return List.of(
        row("virt", MapIcm.VIRTUAL_ADDRESS, 0x00, ALL64, "1122334455667788"),
        row("page", MapIcm.PAGE_ADDRESS, 0x08, "fffffffffffff000", "112233445566f000"),
        row("page_num", MapIcm.PAGES, 0x0c, "00000fff", "00000abc"));
  }

  private static List<FieldRow> mpt() {
    return List.of(
        row("flags", Mpt.FLAGS, 0x00, ALL32, "a1b2c3d4"),
        row("page_size", Mpt.PAGE_SIZE, 0x04, ALL32, "04030201"),
        row("key", Mpt.KEY, 0x08, ALL32, "abc08033"),
        row("pd", Mpt.PD, 0x0c, ALL32, "00000fed"),
        row("start", Mpt.START, 0x10, ALL64, "00007f1234567000"),
        row("length", Mpt.LENGTH, 0x18, ALL64, "0000000123456789"),
        row("lkey", Mpt.LKEY, 0x20, ALL32, "20212223"),
        row("window_count", Mpt.WINDOW_COUNT, 0x24, ALL32, "24252627"),
        row("window_count_limit", Mpt.WINDOW_COUNT_LIMIT, 0x28, ALL32, "28292a2b"),
        row("mtt_seg", Mpt.MTT_SEGMENT, 0x2c, ALL64, "2c2d2e2f30313233"),
        row("mtt_sz", Mpt.MTT_SIZE, 0x34, ALL32, "34353637"));
  }

  private static List<FieldRow> writeMtt() {
    return List.of(row("mtt_start_index", WriteMtt.START_INDEX, 0x18, ALL64, "0000000000001fff"));
  }

  private static List<FieldRow> eventQueue() {
    return List.of(
        row("flags", EventQueueContext.FLAGS, 0x00, ALL32, "01040100"),
        row("start", EventQueueContext.START, 0x04, ALL64, "0405060708090a0b"),
        row("logsize", EventQueueContext.LOG_SIZE, 0x0c, "ff000000", "0a000000"),
        row("intr", EventQueueContext.INTERRUPT, 0x14, "000000ff", "0000003f"),
        row("pd", EventQueueContext.PD, 0x18, ALL32, "18191a1b"),
        row("lkey", EventQueueContext.LKEY, 0x1c, ALL32, "9c9d9e9f"),
        row("consumer_index", EventQueueContext.CONSUMER_INDEX, 0x28, ALL32, "a8a9aaab"),
        row("producer_index", EventQueueContext.PRODUCER_INDEX, 0x2c, ALL32, "acadaeaf"));
  }

  private static List<FieldRow> completionQueue() {
    return List.of(
        row("flags", CompletionQueueContext.FLAGS, 0x00, ALL32, "00040100"),
        row("start", CompletionQueueContext.START, 0x04, ALL64, "0405060708090a0b"),
        row("logsize", CompletionQueueContext.LOG_SIZE, 0x0c, "ff000000", "0d000000"),
        row("usrpage", CompletionQueueContext.USR_PAGE, 0x0c, "00ffffff", "000d0e0f"),
        row("comp_eqn", CompletionQueueContext.COMP_EQN, 0x10, ALL32, "10111213"),
        row("pd", CompletionQueueContext.PD, 0x14, ALL32, "94151617"),
        row("lkey", CompletionQueueContext.LKEY, 0x18, ALL32, "98191a1b"),
        row("cqn", CompletionQueueContext.CQN, 0x2c, ALL32, "2c2d2e2f"));
  }

  private static List<FieldRow> resizeCq() {
    return List.of(
        row("logsize", ResizeCq.LOG_SIZE, 0x00, "ff000000", "0a000000"),
        row("lkey", ResizeCq.LKEY, 0x04, ALL32, "deadbeef"));
  }

  private static List<FieldRow> portInfo() {
    return List.of(
        row("lid", PortInfo.LID, 0x00, "00ff0000", "00010000"),
        row("port_state", PortInfo.PORT_STATE, 0x00, "0000ff00", "00000200"),
        row("physical_state", PortInfo.PHYSICAL_STATE, 0x00, "000000ff", "00000003"));
  }

  static Stream<Arguments> allFields() {
    return tables().flatMap(table -> table.rows().stream().map(row -> Arguments.of(table, row)));
  }

  @ParameterizedTest
  @MethodSource("allFields")
  void fieldIsAtItsPlaceInItsTable(Table table, FieldRow row) {
    row.check(table.size());
  }

  @ParameterizedTest
  @MethodSource("tables")
  void mailboxHasExactlyTheFieldsOfItsTable(Table table) {
    FieldRow.checkComplete(table.layout(), table.size(), table.rows());
  }

  @ParameterizedTest
  @CsvSource({"0, 0x10", "1, 0x00", "2, 0x30", "3, 0x20", "4, 0x50", "5, 0x40", "254, 0xff0"})
  void entriesAreAtTheOffsetsOfTheirPairs(int index, String offset) {
    assertThat(MapIcm.offset(index)).isEqualTo(Integer.decode(offset));
  }

  @Test
  void flagsMatchTheBitsOfTable3219() {
    assertThat(MptFlags.LOCAL_WRITE).isEqualTo(0x0000_0001);
    assertThat(MptFlags.REMOTE_WRITE).isEqualTo(0x0000_0002);
    assertThat(MptFlags.REMOTE_READ).isEqualTo(0x0000_0004);
    assertThat(MptFlags.REMOTE_ATOMIC).isEqualTo(0x0000_0008);
    assertThat(MptFlags.MW_BIND).isEqualTo(0x0000_0010);
    assertThat(MptFlags.ZERO_BASED).isEqualTo(0x0000_0020);
    assertThat(MptFlags.ON_DEMAND).isEqualTo(0x0000_0040);
    assertThat(MptFlags.REGION).isEqualTo(0x0000_0100);
    assertThat(MptFlags.PHYSICAL).isEqualTo(0x0000_0200);
    assertThat(MptFlags.BIND_ENABLE).isEqualTo(0x0000_8000);
    assertThat(MptFlags.MIO).isEqualTo(0x0002_0000);
    assertThat(MptFlags.SW_OWNS).isEqualTo(0xf000_0000);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0x38",
    "1, 0x30",
    "2, 0x28",
    "3, 0x20",
    "4, 0x58",
    "7, 0x40",
    "252, 0x818",
    "254, 0x808"
  })
  void pagesAreAtTheOffsetsOfTheirGroups(int index, String offset) {
    assertThat(WriteMtt.offset(index)).isEqualTo(Integer.decode(offset));
  }

  @ParameterizedTest
  @CsvSource({
    "0x02, COMM_EST,            0x00000004",
    "0x03, SQ_DRAINED,          0x00000008",
    "0x04, CQ_ERROR,            0x00000010",
    "0x05, WQ_CATAS_ERROR,      0x00000020",
    "0x10, WQ_INVAL_REQ_ERROR,  0x00010000",
    "0x11, WQ_ACCESS_ERROR,     0x00020000",
    "0x08, LOCAL_CATAS_ERROR,   0x00000100",
    "0x09, PORT_CHANGE,         0x00000200",
    "0x01, PATH_MIG,            0x00000002",
    "0x07, PATH_MIG_FAILED,     0x00000080",
    "0x12, SRQ_CATAS_ERROR,     0x00040000",
    "0x13, SRQ_QP_LAST_WQE,     0x00080000",
    "0x14, SRQ_LIMIT,           0x00100000"
  })
  void eventsHaveTheCodesAndMaskBitsOfTable3225(String code, EventType type, String mask) {
    assertThat(type.code()).isEqualTo(Integer.decode(code));
    assertThat(type.mask()).isEqualTo(Long.decode(mask));
    assertThat(type.symbol()).isEqualTo("HGHCA_EVENT_TYPE_" + type.name());
    assertThat(EventType.of(Integer.decode(code))).contains(type);
    assertThat(EventType.inMask(Long.decode(mask))).containsExactly(type);
  }

  @Test
  void eventQueueFlagsAreTheBitsOfTable3229() {
    assertThat(EventQueueContext.OWNER_HW).isEqualTo(0x0100_0000);
    assertThat(EventQueueContext.TRANSLATE).isEqualTo(0x0004_0000);
    assertThat(EventQueueContext.ARMED).isEqualTo(0x0000_0100);
  }

  @Test
  void completionQueueFlagsAreTheBitsOfTable3234() {
    assertThat(CompletionQueueContext.TRANSLATE).isEqualTo(0x0004_0000);
    assertThat(CompletionQueueContext.ARMED).isEqualTo(0x0000_0100);
  }
}
