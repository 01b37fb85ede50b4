package org.hghca.abi;

import static org.hghca.abi.FieldRow.row;
import static org.hghca.abi.QueuePairContext.*;

import java.util.List;
import java.util.stream.Stream;

/** Interface document, tables 3-2-40 to 3-2-42 and A1-3: the queue pair context. */
final class QueuePairTable {
  private static final String ALL32 = "ffffffff";
  private static final String ALL64 = "ffffffffffffffff";

  private QueuePairTable() {}

  private static List<FieldRow> table3240() {
    return List.of(
        row("opt_param_mask", OPT_PARAM_MASK, 0x00, ALL32, "00112233"),
        row("flags state", STATE, 0x08, "f0000000", "30000000"),
        row("flags service type", SERVICE_TYPE, 0x08, "00ff0000", "00030000"),
        row("mtu", MTU, 0x0c, "e0000000", "a0000000"),
        row("msgmax", MSG_MAX, 0x0c, "1f000000", "1d000000"),
        row("rq_entry_sz_log", RQ_ENTRY_SIZE, 0x0c, "00ff0000", "00080000"),
        row("sq_entry_sz_log", SQ_ENTRY_SIZE, 0x0c, "0000ff00", "00000700"),
        row("rlkey_arbel_sched_queue", RLKEY_ARBEL_SCHED_QUEUE, 0x0c, "000000ff", "0000006f"),
        row("usr_page", USR_PAGE, 0x10, ALL32, "10111213"),
        row("local_qpn", LOCAL_QPN, 0x14, ALL32, "94151617"),
        row("remote_qpn", REMOTE_QPN, 0x18, ALL32, "98191a1b"),
        row("port", PORT, 0x1c, "07000000", "05000000"),
        row("pkey index", PKEY_INDEX, 0x1c, "0000007f", "0000006d"),
        row("rnr_retry", RNR_RETRY, 0x20, "ff000000", "07000000"),
        row("has grh", HAS_GRH, 0x20, "00800000", "00800000"),
        row("local mask control", MY_LMC, 0x20, "007f0000", "00590000"),
        row("mgid_index", MGID_INDEX, 0x24, "00ff0000", "00420000"),
        row("static_rate", STATIC_RATE, 0x24, "0000ff00", "00002600"),
        row("hop_limit", HOP_LIMIT, 0x24, "000000ff", "00000040"),
        row("rgid[127:64]", REMOTE_GID_HIGH, 0x2c, ALL64, "fe80000000000001"),
        row("rgid[63:0]", REMOTE_GID_LOW, 0x34, ALL64, "0203040506070809"),
        row("dlid(dmac[15:0])", DMAC_LOW, 0x3c, "ffff0000", "9abc0000"),
        row("slid(smac[15:0])", SMAC_LOW, 0x3c, "0000ffff", "0000fedc"),
        row("smac[47:16]", SMAC_HIGH, 0x40, ALL32, "12345678"),
        row("dmac[47:16]", DMAC_HIGH, 0x44, ALL32, "a2b4c6d8"),
        row("sip", SOURCE_IP, 0x48, ALL32, "0a000102"),
        row("dip", DESTINATION_IP, 0x4c, ALL32, "c0a80203"),
        row("pd", PD, 0x5c, ALL32, "5c5d5e5f"),
        row("wqe_base", WQE_BASE, 0x60, ALL32, "60616263"),
        row("wqe_lkey", WQE_LKEY, 0x64, ALL32, "64656667"),
        row("next_send_psn", NEXT_SEND_PSN, 0x6c, ALL32, "006d6e6f"),
        row("cqn_snd", SEND_CQN, 0x70, ALL32, "70717273"),
        row("snd_wqe_base_l", SEND_WQE_LKEY, 0x74, ALL32, "f4757677"),
        row("snd_wqe_len", SEND_WQE_LENGTH, 0x78, ALL32, "00100000"),
        row("last_acked_psn", LAST_ACKED_PSN, 0x7c, ALL32, "007d7e7f"),
        row("ssn", SSN, 0x80, ALL32, "80818283"),
        row("Recv not Ready", MIN_RNR_TIMER, 0x84, "ff000000", "1f000000"),
        row("ePSN", NEXT_RECEIVE_PSN, 0x84, "00ffffff", "00858687"),
        row("ra_buff_indx", RA_BUFF_INDEX, 0x88, ALL32, "88898a8b"),
        row("cqn_rcv", RECEIVE_CQN, 0x8c, ALL32, "8c8d8e8f"),
        row("rcv_wqe_base_l", RECEIVE_WQE_LKEY, 0x90, ALL32, "90919293"),
        row("rcv_wqe_len", RECEIVE_WQE_LENGTH, 0x94, ALL32, "00000200"),
        row("qkey", QKEY, 0x98, ALL32, "98999a9b"),
        row("rmsn", RMSN, 0x9c, ALL32, "9c9d9e9f"),
        row("rq_wqe_counter", RQ_WQE_COUNTER, 0xbc, "ffff0000", "bcbd0000"),
        row("sq_wqe_counter", SQ_WQE_COUNTER, 0xbc, "0000ffff", "0000bebf"));
  }

  /**
   * Fields where abi reads more than the document says, in the positions of the card's ancestor.
   * The document has ackto as 24h[31:24] and sl_tclass_flowlabel as one dword at 28h.
   */
  private static List<FieldRow> refinements() {
    return List.of(
        row("ackto", ACK_TIMEOUT, 0x24, "f8000000", "a8000000"),
        row("sl", SL, 0x28, "f0000000", "a0000000"),
        row("tclass", TRAFFIC_CLASS, 0x28, "0ff00000", "05600000"),
        row("flowlabel", FLOW_LABEL, 0x28, "000fffff", "000abcde"));
  }

  /** Fields that the document leaves blank and this project fills, in the ancestor's positions. */
  private static List<FieldRow> extensions() {
    return List.of(
        row("max_dest_rd_atomic", MAX_DEST_RD_ATOMIC, 0x58, "00e00000", "00a00000"),
        row("remote read", REMOTE_READ_ENABLE, 0x58, "00008000", "00008000"),
        row("remote write", REMOTE_WRITE_ENABLE, 0x58, "00004000", "00004000"),
        row("remote atomic", REMOTE_ATOMIC_ENABLE, 0x58, "00002000", "00002000"),
        row("max_rd_atomic", MAX_RD_ATOMIC, 0x68, "00e00000", "00600000"),
        row("retry_cnt", RETRY_COUNT, 0x68, "00070000", "00050000"),
        row("pm_state", MIGRATION, 0x08, "00001800", "00001000"),
        row("alternate sl", ALTERNATE_SL, 0x04, "f0000000", "a0000000"),
        row("alternate tclass", ALTERNATE_TRAFFIC_CLASS, 0x04, "0ff00000", "05600000"),
        row("alternate flowlabel", ALTERNATE_FLOW_LABEL, 0x04, "000fffff", "000abcde"),
        row("alternate dmac", ALTERNATE_DMAC_HIGH, 0x50, ALL32, "50515253"),
        row("alternate dmac", ALTERNATE_DMAC_LOW, 0x54, "ffff0000", "54550000"),
        row("alternate mgid_index", ALTERNATE_MGID_INDEX, 0x54, "0000ff00", "00005600"),
        row("alternate hop_limit", ALTERNATE_HOP_LIMIT, 0x54, "000000ff", "00000057"),
        row("alternate ackto", ALTERNATE_ACK_TIMEOUT, 0xa0, "3e000000", "2a000000"),
        row("alternate rgid", ALTERNATE_GID_HIGH, 0xac, ALL64, "acadaeafb0b1b2b3"),
        row("alternate rgid", ALTERNATE_GID_LOW, 0xb4, ALL64, "b4b5b6b7b8b9babb"),
        row("port_by_numbers", PORT_BY_NUMBERS, 0xa0, "80000000", "80000000"),
        row("srq", HAS_SRQ, 0xa0, "01000000", "01000000"),
        row("srqn", SRQN, 0xa0, "00ffffff", "00a1a2a3"),
        row("snd_ring_offset", SEND_RING_OFFSET, 0xa4, ALL32, "a4a5a6a7"),
        row("rcv_ring_offset", RECEIVE_RING_OFFSET, 0xa8, ALL32, "a8a9aaab"));
  }

  static List<FieldRow> fields() {
    return Stream.of(table3240(), refinements(), extensions()).flatMap(List::stream).toList();
  }
}
