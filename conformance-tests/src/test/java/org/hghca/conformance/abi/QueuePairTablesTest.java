package org.hghca.conformance.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.abi.QueuePairContext.*;
import static org.hghca.conformance.abi.FieldRow.row;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;
import org.hghca.abi.OptParamMask;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Interface document, tables 3-2-40 to 3-2-42 and A1-3: the queue pair context. */
class QueuePairTablesTest {
  private static final String ALL32 = "ffffffff";
  private static final String ALL64 = "ffffffffffffffff";

  static List<FieldRow> table3240() {
    return List.of(
        row("opt_param_mask", OPT_PARAM_MASK, 0x00, ALL32, "00112233", 0x00112233L),
        row("flags state", STATE, 0x08, "f0000000", "30000000", 3),
        row("flags service type", SERVICE_TYPE, 0x08, "00ff0000", "00030000", 3),
        row("mtu", MTU, 0x0c, "e0000000", "a0000000", 5),
        row("msgmax", MSG_MAX, 0x0c, "1f000000", "1d000000", 0x1d),
        row("rq_entry_sz_log", RQ_ENTRY_SIZE, 0x0c, "00ff0000", "00080000", 8),
        row("sq_entry_sz_log", SQ_ENTRY_SIZE, 0x0c, "0000ff00", "00000700", 7),
        row("rlkey_arbel_sched_queue", RLKEY_ARBEL_SCHED_QUEUE, 0x0c, "000000ff", "0000006f", 0x6f),
        row("usr_page", USR_PAGE, 0x10, ALL32, "10111213", 0x10111213L),
        row("local_qpn", LOCAL_QPN, 0x14, ALL32, "94151617", 0x94151617L),
        row("remote_qpn", REMOTE_QPN, 0x18, ALL32, "98191a1b", 0x98191a1bL),
        row("port", PORT, 0x1c, "07000000", "05000000", 5),
        row("pkey index", PKEY_INDEX, 0x1c, "0000007f", "0000006d", 0x6d),
        row("rnr_retry", RNR_RETRY, 0x20, "ff000000", "07000000", 7),
        row("has grh", HAS_GRH, 0x20, "00800000", "00800000", 1),
        row("local mask control", MY_LMC, 0x20, "007f0000", "00590000", 0x59),
        row("mgid_index", MGID_INDEX, 0x24, "00ff0000", "00420000", 0x42),
        row("static_rate", STATIC_RATE, 0x24, "0000ff00", "00002600", 0x26),
        row("hop_limit", HOP_LIMIT, 0x24, "000000ff", "00000040", 0x40),
        row("rgid[127:64]", REMOTE_GID_HIGH, 0x2c, ALL64, "fe80000000000001", 0xfe80000000000001L),
        row("rgid[63:0]", REMOTE_GID_LOW, 0x34, ALL64, "0203040506070809", 0x0203040506070809L),
        row("dlid(dmac[15:0])", DMAC_LOW, 0x3c, "ffff0000", "9abc0000", 0x9abc),
        row("slid(smac[15:0])", SMAC_LOW, 0x3c, "0000ffff", "0000fedc", 0xfedc),
        row("smac[47:16]", SMAC_HIGH, 0x40, ALL32, "12345678", 0x12345678L),
        row("dmac[47:16]", DMAC_HIGH, 0x44, ALL32, "a2b4c6d8", 0xa2b4c6d8L),
        row("sip", SOURCE_IP, 0x48, ALL32, "0a000102", 0x0a000102L),
        row("dip", DESTINATION_IP, 0x4c, ALL32, "c0a80203", 0xc0a80203L),
        row("pd", PD, 0x5c, ALL32, "5c5d5e5f", 0x5c5d5e5fL),
        row("wqe_base", WQE_BASE, 0x60, ALL32, "60616263", 0x60616263L),
        row("wqe_lkey", WQE_LKEY, 0x64, ALL32, "64656667", 0x64656667L),
        row("next_send_psn", NEXT_SEND_PSN, 0x6c, ALL32, "006d6e6f", 0x6d6e6fL),
        row("cqn_snd", SEND_CQN, 0x70, ALL32, "70717273", 0x70717273L),
        row("snd_wqe_base_l", SEND_WQE_LKEY, 0x74, ALL32, "f4757677", 0xf4757677L),
        row("snd_wqe_len", SEND_WQE_LENGTH, 0x78, ALL32, "00100000", 0x100000),
        row("last_acked_psn", LAST_ACKED_PSN, 0x7c, ALL32, "007d7e7f", 0x7d7e7fL),
        row("ssn", SSN, 0x80, ALL32, "80818283", 0x80818283L),
        row("Recv not Ready", MIN_RNR_TIMER, 0x84, "ff000000", "1f000000", 0x1f),
        row("ePSN", NEXT_RECEIVE_PSN, 0x84, "00ffffff", "00858687", 0x858687),
        row("ra_buff_indx", RA_BUFF_INDEX, 0x88, ALL32, "88898a8b", 0x88898a8bL),
        row("cqn_rcv", RECEIVE_CQN, 0x8c, ALL32, "8c8d8e8f", 0x8c8d8e8fL),
        row("rcv_wqe_base_l", RECEIVE_WQE_LKEY, 0x90, ALL32, "90919293", 0x90919293L),
        row("rcv_wqe_len", RECEIVE_WQE_LENGTH, 0x94, ALL32, "00000200", 0x200),
        row("qkey", QKEY, 0x98, ALL32, "98999a9b", 0x98999a9bL),
        row("rmsn", RMSN, 0x9c, ALL32, "9c9d9e9f", 0x9c9d9e9fL),
        row("rq_wqe_counter", RQ_WQE_COUNTER, 0xbc, "ffff0000", "bcbd0000", 0xbcbd),
        row("sq_wqe_counter", SQ_WQE_COUNTER, 0xbc, "0000ffff", "0000bebf", 0xbebf));
  }

  /**
   * Fields where abi reads more than the document says, in the positions of the card's ancestor.
   * The document has ackto as 24h[31:24] and sl_tclass_flowlabel as one dword at 28h.
   */
  static List<FieldRow> refinements() {
    return List.of(
        row("ackto", ACK_TIMEOUT, 0x24, "f8000000", "a8000000", 0x15),
        row("sl", SL, 0x28, "f0000000", "a0000000", 0xa),
        row("tclass", TRAFFIC_CLASS, 0x28, "0ff00000", "05600000", 0x56),
        row("flowlabel", FLOW_LABEL, 0x28, "000fffff", "000abcde", 0xabcde));
  }

  /** Fields that the document leaves blank and this project fills, in the ancestor's positions. */
  static List<FieldRow> extensions() {
    return List.of(
        row("max_dest_rd_atomic", MAX_DEST_RD_ATOMIC, 0x58, "00e00000", "00a00000", 5),
        row("remote read", REMOTE_READ_ENABLE, 0x58, "00008000", "00008000", 1),
        row("remote write", REMOTE_WRITE_ENABLE, 0x58, "00004000", "00004000", 1),
        row("remote atomic", REMOTE_ATOMIC_ENABLE, 0x58, "00002000", "00002000", 1),
        row("max_rd_atomic", MAX_RD_ATOMIC, 0x68, "00e00000", "00600000", 3),
        row("retry_cnt", RETRY_COUNT, 0x68, "00070000", "00050000", 5),
        row("pm_state", MIGRATION, 0x08, "00001800", "00001000", 2),
        row("alternate sl", ALTERNATE_SL, 0x04, "f0000000", "a0000000", 0xa),
        row("alternate tclass", ALTERNATE_TRAFFIC_CLASS, 0x04, "0ff00000", "05600000", 0x56),
        row("alternate flowlabel", ALTERNATE_FLOW_LABEL, 0x04, "000fffff", "000abcde", 0xabcde),
        row("alternate dmac", ALTERNATE_DMAC_HIGH, 0x50, ALL32, "50515253", 0x50515253L),
        row("alternate dmac", ALTERNATE_DMAC_LOW, 0x54, "ffff0000", "54550000", 0x5455),
        row("alternate mgid_index", ALTERNATE_MGID_INDEX, 0x54, "0000ff00", "00005600", 0x56),
        row("alternate hop_limit", ALTERNATE_HOP_LIMIT, 0x54, "000000ff", "00000057", 0x57),
        row("alternate ackto", ALTERNATE_ACK_TIMEOUT, 0xa0, "3e000000", "2a000000", 0x15),
        row(
            "alternate rgid",
            ALTERNATE_GID_HIGH,
            0xac,
            ALL64,
            "acadaeafb0b1b2b3",
            0xacadaeaf_b0b1b2b3L),
        row(
            "alternate rgid",
            ALTERNATE_GID_LOW,
            0xb4,
            ALL64,
            "b4b5b6b7b8b9babb",
            0xb4b5b6b7_b8b9babbL),
        row("port_by_numbers", PORT_BY_NUMBERS, 0xa0, "80000000", "80000000", 1),
        row("srq", HAS_SRQ, 0xa0, "01000000", "01000000", 1),
        row("srqn", SRQN, 0xa0, "00ffffff", "00a1a2a3", 0xa1a2a3),
        row("snd_ring_offset", SEND_RING_OFFSET, 0xa4, ALL32, "a4a5a6a7", 0xa4a5a6a7L),
        row("rcv_ring_offset", RECEIVE_RING_OFFSET, 0xa8, ALL32, "a8a9aaab", 0xa8a9aaabL));
  }

  static List<FieldRow> allFields() {
    return Stream.of(table3240(), refinements(), extensions()).flatMap(List::stream).toList();
  }

  @ParameterizedTest
  @MethodSource("allFields")
  void fieldIsAtItsPlaceInItsTable(FieldRow row) {
    row.check(192);
  }

  @ParameterizedTest
  @MethodSource("allFields")
  void fieldSetAloneIsAloneInTheMailbox(FieldRow row) {
    QueuePairContext context = new QueuePairContext().setLong(row.field(), row.value());
    String literal = Bytes.body(192, "%02x: %s".formatted(row.offset(), row.bytes()));

    MemorySegment mailbox = Bytes.filled(200, 0xff);
    context.encode(mailbox);

    assertThat(Bytes.hex(mailbox)).isEqualTo(literal + "ff".repeat(8));
    assertThat(QueuePairContext.decode(Bytes.of(literal)).getLong(row.field()))
        .isEqualTo(row.value());
  }

  @Test
  void contextHasExactlyTheseFields() {
    FieldRow.checkComplete(QueuePairContext.LAYOUT, 192, allFields());
  }

  @Test
  void contextIsWrittenAsAWhole() {
    QueuePairContext context =
        new QueuePairContext()
            .set(OPT_PARAM_MASK, 0x00011e01)
            .set(STATE, 3)
            .set(SERVICE_TYPE, 0)
            .set(MTU, 5)
            .set(MSG_MAX, 31)
            .set(RQ_ENTRY_SIZE, 7)
            .set(SQ_ENTRY_SIZE, 8)
            .set(LOCAL_QPN, 2)
            .set(REMOTE_QPN, 3)
            .set(PORT, 1)
            .set(RNR_RETRY, 7)
            .set(MGID_INDEX, 1)
            .set(HOP_LIMIT, 64)
            .setLong(REMOTE_GID_LOW, 0x0000ffff0a000002L)
            .sourceMac(0x02aabbccdd01L)
            .destinationMac(0x02aabbccdd02L)
            .set(SOURCE_IP, 0x0a000001)
            .set(DESTINATION_IP, 0x0a000002)
            .set(PD, 1)
            .set(NEXT_SEND_PSN, 0x100)
            .set(SEND_CQN, 1)
            .set(SEND_WQE_LKEY, 0x10)
            .set(SEND_WQE_LENGTH, 0x1000)
            .set(LAST_ACKED_PSN, 0x100)
            .set(MIN_RNR_TIMER, 12)
            .set(NEXT_RECEIVE_PSN, 0x200)
            .set(RECEIVE_CQN, 2)
            .set(RECEIVE_WQE_LKEY, 0x11)
            .set(RECEIVE_WQE_LENGTH, 0x200)
            .set(QKEY, 0x11111111);
    String literal =
        Bytes.body(
            192,
            "00: 00011e01 00000000 30000000 bf070800",
            "10: 00000000 00000002 00000003 01000000",
            "20: 07000000 00010040 00000000 00000000",
            "30: 00000000 0000ffff 0a000002 dd02dd01",
            "40: 02aabbcc 02aabbcc 0a000001 0a000002",
            "5c: 00000001",
            "6c: 00000100",
            "70: 00000001 00000010 00001000 00000100",
            "80: 00000000 0c000200 00000000 00000002",
            "90: 00000011 00000200 11111111");

    MemorySegment mailbox = Bytes.filled(192, 0xff);
    context.encode(mailbox);

    assertThat(Bytes.hex(mailbox)).isEqualTo(literal);
  }

  @Test
  void macAddressesAreSplitIntoTheirTwoFields() {
    QueuePairContext context =
        new QueuePairContext().sourceMac(0x123456789abcL).destinationMac(0xfedcba987654L);
    String literal = Bytes.body(192, "3c: 7654 9abc", "40: 12345678", "44: fedcba98");

    MemorySegment mailbox = Bytes.zeros(192);
    context.encode(mailbox);

    assertThat(Bytes.hex(mailbox)).isEqualTo(literal);
    QueuePairContext read = QueuePairContext.decode(Bytes.of(literal));
    assertThat(read.sourceMac()).isEqualTo(0x123456789abcL);
    assertThat(read.destinationMac()).isEqualTo(0xfedcba987654L);
    assertThatThrownBy(() -> context.sourceMac(0x1_0000_0000_0000L))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> context.destinationMac(-1L))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void contextIsReadWithinALargerSegment() {
    MemorySegment icm = Bytes.zeros(1024);
    icm.asSlice(512, 192).copyFrom(Bytes.of(Bytes.body(192, "08: 60030000", "14: 000000ab")));

    QueuePairContext read = QueuePairContext.decode(icm, 512);

    assertThat(read.get(STATE)).isEqualTo(6);
    assertThat(read.get(SERVICE_TYPE)).isEqualTo(3);
    assertThat(read.get(LOCAL_QPN)).isEqualTo(0xab);
  }

  @Test
  void copyIsIndependentOfItsOriginal() {
    QueuePairContext original = new QueuePairContext().set(STATE, 2).set(PD, 5);
    QueuePairContext copy = original.copy();
    original.set(STATE, 3);

    assertThat(copy.get(STATE)).isEqualTo(2);
    assertThat(copy.get(PD)).isEqualTo(5);
  }

  @Test
  void statesAndServiceTypesMatchTable3242() {
    assertThat(QpcState.RST).isEqualTo(0);
    assertThat(QpcState.INIT).isEqualTo(1);
    assertThat(QpcState.RTR).isEqualTo(2);
    assertThat(QpcState.RTS).isEqualTo(3);
    assertThat(QpcState.SQE).isEqualTo(4);
    assertThat(QpcState.SQD).isEqualTo(5);
    assertThat(QpcState.ERR).isEqualTo(6);
    assertThat(QpcServiceType.RC).isEqualTo(0);
    assertThat(QpcServiceType.UC).isEqualTo(1);
    assertThat(QpcServiceType.RD).isEqualTo(2);
    assertThat(QpcServiceType.UD).isEqualTo(3);
  }

  @Test
  void attributeMaskBitsMatchTableA13() {
    assertThat(OptParamMask.STATE).isEqualTo(0x000001);
    assertThat(OptParamMask.CUR_STATE).isEqualTo(0x000002);
    assertThat(OptParamMask.EN_SQD_ASYNC_NOTIFY).isEqualTo(0x000004);
    assertThat(OptParamMask.ACCESS_FLAGS).isEqualTo(0x000008);
    assertThat(OptParamMask.PKEY_INDEX).isEqualTo(0x000010);
    assertThat(OptParamMask.PORT).isEqualTo(0x000020);
    assertThat(OptParamMask.QKEY).isEqualTo(0x000040);
    assertThat(OptParamMask.AV).isEqualTo(0x000080);
    assertThat(OptParamMask.PATH_MTU).isEqualTo(0x000100);
    assertThat(OptParamMask.TIMEOUT).isEqualTo(0x000200);
    assertThat(OptParamMask.RETRY_CNT).isEqualTo(0x000400);
    assertThat(OptParamMask.RNR_RETRY).isEqualTo(0x000800);
    assertThat(OptParamMask.RQ_PSN).isEqualTo(0x001000);
    assertThat(OptParamMask.MAX_QP_RD_ATOMIC).isEqualTo(0x002000);
    assertThat(OptParamMask.ALT_PATH).isEqualTo(0x004000);
    assertThat(OptParamMask.MIN_RNR_TIMER).isEqualTo(0x008000);
    assertThat(OptParamMask.SQ_PSN).isEqualTo(0x010000);
    assertThat(OptParamMask.MAX_DEST_RD_ATOMIC).isEqualTo(0x020000);
    assertThat(OptParamMask.PATH_MIG_STATE).isEqualTo(0x040000);
    assertThat(OptParamMask.CAP).isEqualTo(0x080000);
    assertThat(OptParamMask.DEST_QPN).isEqualTo(0x100000);
  }
}
