package org.hghca.conformance.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.conformance.abi.FieldRow.row;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import org.hghca.abi.AdapterInfo;
import org.hghca.abi.DeviceLimits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Interface document, tables 3-2-3, 3-2-4, 3-2-6 and 3-2-7: the outboxes of the two queries. */
class DeviceQueriesTest {
  private static final String EVERY_LIMIT =
      Bytes.hex(
          "01020304 00050006 00070008 090a0b0c",
          "0d000e0f 00100000 01110112 01130114",
          "011504a6 00170000 00180119 001a011b",
          "1c1d1e1f 20212223 00000000 00000000");

  static List<FieldRow> table323() {
    return List.of(
        row("reserved_qp", DeviceLimits.RESERVED_QPS, 0x00, "ff000000", "0a000000", 0x0a),
        row("reserved_cq", DeviceLimits.RESERVED_CQS, 0x00, "00ff0000", "000b0000", 0x0b),
        row("reserved_eq", DeviceLimits.RESERVED_EQS, 0x00, "0000ff00", "00000c00", 0x0c),
        row("reserved_mtt", DeviceLimits.RESERVED_MTTS, 0x00, "000000ff", "0000000d", 0x0d),
        row("reserved_pd", DeviceLimits.RESERVED_PDS, 0x04, "00ff0000", "00090000", 0x09),
        row("reserved_lkey", DeviceLimits.RESERVED_LKEYS, 0x04, "000000ff", "00000007", 0x07),
        row("max_qp_sz", DeviceLimits.MAX_QP_SIZE, 0x08, "ffff0000", "12340000", 0x1234),
        row("max_cq_sz", DeviceLimits.MAX_CQ_SIZE, 0x08, "0000ffff", "00005678", 0x5678),
        row("max_qps", DeviceLimits.MAX_QPS, 0x0c, "ff000000", "1e000000", 0x1e),
        row("max_cqs", DeviceLimits.MAX_CQS, 0x0c, "00ff0000", "001d0000", 0x1d),
        row("max_eqs", DeviceLimits.MAX_EQS, 0x0c, "0000ff00", "00000500", 0x05),
        row("max_mpts", DeviceLimits.MAX_MPTS, 0x0c, "000000ff", "0000002e", 0x2e),
        row("max_pds", DeviceLimits.MAX_PDS, 0x10, "ff000000", "2c000000", 0x2c),
        row("max_gids", DeviceLimits.MAX_GIDS, 0x10, "0000ff00", "00000b00", 0x0b),
        row("max_pkeys", DeviceLimits.MAX_PKEYS, 0x10, "000000ff", "00000007", 0x07),
        row("max_mtt_seg", DeviceLimits.MTT_ENTRY_SIZE, 0x14, "00ff0000", "00080000", 8),
        row("qpc_entry_sz", DeviceLimits.QPC_ENTRY_SIZE, 0x18, "ffff0000", "01000000", 256),
        row("cqc_entry_sz", DeviceLimits.CQC_ENTRY_SIZE, 0x18, "0000ffff", "00000080", 128),
        row("eqc_entry_sz", DeviceLimits.EQC_ENTRY_SIZE, 0x1c, "ffff0000", "00400000", 64),
        row("mpt_entry_sz", DeviceLimits.MPT_ENTRY_SIZE, 0x1c, "0000ffff", "00000040", 64),
        row("ack_delay", DeviceLimits.ACK_DELAY, 0x20, "0f000000", "0a000000", 0xa),
        row("max_mtu", DeviceLimits.MAX_MTU, 0x20, "00f00000", "00500000", 5),
        row("max_port_width", DeviceLimits.MAX_PORT_WIDTH, 0x20, "000f0000", "00040000", 4),
        row("max_vl", DeviceLimits.MAX_VL, 0x20, "000000f0", "000000f0", 0xf),
        row("num_ports", DeviceLimits.PORTS, 0x20, "0000000f", "00000002", 2),
        row("min_page_sz", DeviceLimits.MIN_PAGE_SIZE, 0x24, "00ff0000", "000c0000", 12),
        row("max_sg", DeviceLimits.MAX_SG, 0x28, "00ff0000", "00100000", 16),
        row("max_desc_sz", DeviceLimits.MAX_DESC_SIZE, 0x28, "0000ffff", "00000200", 512),
        row("max_sg_rq", DeviceLimits.MAX_SG_RQ, 0x2c, "00ff0000", "001e0000", 30),
        row("max_desc_sz_rq", DeviceLimits.MAX_DESC_SIZE_RQ, 0x2c, "0000ffff", "00000400", 1024),
        row(
            "max_icm_sz",
            DeviceLimits.MAX_ICM_SIZE,
            0x30,
            "ffffffffffffffff",
            "1234567887650000",
            0x1234567887650000L));
  }

  @ParameterizedTest
  @MethodSource("table323")
  void deviceLimitIsAtItsPlaceInTable323(FieldRow row) {
    row.check(64);
  }

  @Test
  void deviceLimitsAreExactlyThoseOfTable323() {
    FieldRow.checkComplete(DeviceLimits.LAYOUT, 64, table323());
  }

  @Test
  void everyDeviceLimitIsReadIntoItsOwnComponent() {
    DeviceLimits limits = DeviceLimits.decode(Bytes.of(EVERY_LIMIT));

    assertThat(limits.reservedQpsLog()).isEqualTo(0x01);
    assertThat(limits.reservedCqsLog()).isEqualTo(0x02);
    assertThat(limits.reservedEqsLog()).isEqualTo(0x03);
    assertThat(limits.reservedMttsLog()).isEqualTo(0x04);
    assertThat(limits.reservedPdsLog()).isEqualTo(0x05);
    assertThat(limits.reservedLkeysLog()).isEqualTo(0x06);
    assertThat(limits.maxQpSizeLog()).isEqualTo(0x07);
    assertThat(limits.maxCqSizeLog()).isEqualTo(0x08);
    assertThat(limits.maxQpsLog()).isEqualTo(0x09);
    assertThat(limits.maxCqsLog()).isEqualTo(0x0a);
    assertThat(limits.maxEqsLog()).isEqualTo(0x0b);
    assertThat(limits.maxMptsLog()).isEqualTo(0x0c);
    assertThat(limits.maxPdsLog()).isEqualTo(0x0d);
    assertThat(limits.maxGidsLog()).isEqualTo(0x0e);
    assertThat(limits.maxPkeysLog()).isEqualTo(0x0f);
    assertThat(limits.mttEntrySize()).isEqualTo(0x10);
    assertThat(limits.qpcEntrySize()).isEqualTo(0x0111);
    assertThat(limits.cqcEntrySize()).isEqualTo(0x0112);
    assertThat(limits.eqcEntrySize()).isEqualTo(0x0113);
    assertThat(limits.mptEntrySize()).isEqualTo(0x0114);
    assertThat(limits.ackDelay()).isEqualTo(0x1);
    assertThat(limits.maxMtu()).isEqualTo(0x1);
    assertThat(limits.maxPortWidth()).isEqualTo(0x5);
    assertThat(limits.maxVl()).isEqualTo(0xa);
    assertThat(limits.ports()).isEqualTo(0x6);
    assertThat(limits.minPageSizeLog()).isEqualTo(0x17);
    assertThat(limits.maxSg()).isEqualTo(0x18);
    assertThat(limits.maxDescSize()).isEqualTo(0x0119);
    assertThat(limits.maxSgRq()).isEqualTo(0x1a);
    assertThat(limits.maxDescSizeRq()).isEqualTo(0x011b);
    assertThat(limits.maxIcmSize()).isEqualTo(0x1c1d1e1f20212223L);
  }

  @Test
  void everyDeviceLimitIsWrittenAndReservedBytesAreZero() {
    MemorySegment outbox = Bytes.filled(72, 0xff);
    new DeviceLimits(
            0x01,
            0x02,
            0x03,
            0x04,
            0x05,
            0x06,
            0x07,
            0x08,
            0x09,
            0x0a,
            0x0b,
            0x0c,
            0x0d,
            0x0e,
            0x0f,
            0x10,
            0x0111,
            0x0112,
            0x0113,
            0x0114,
            0x1,
            0x1,
            0x5,
            0xa,
            0x6,
            0x17,
            0x18,
            0x0119,
            0x1a,
            0x011b,
            0x1c1d1e1f20212223L,
            Set.of())
        .encode(outbox);

    // without the blank bit at 22h that the literal for reading has set
    String written = EVERY_LIMIT.replace("011504a6", "011500a6");
    assertThat(Bytes.hex(outbox)).isEqualTo(written + "ff".repeat(8));
  }

  @Test
  void logarithmsAreReturnedAsNumbers() {
    DeviceLimits limits = DeviceLimits.decode(Bytes.of(EVERY_LIMIT));

    assertThat(limits.reservedQps()).isEqualTo(2);
    assertThat(limits.reservedCqs()).isEqualTo(4);
    assertThat(limits.reservedEqs()).isEqualTo(8);
    assertThat(limits.reservedMtts()).isEqualTo(16);
    assertThat(limits.reservedPds()).isEqualTo(32);
    assertThat(limits.reservedLkeys()).isEqualTo(64);
    assertThat(limits.maxQpSize()).isEqualTo(128);
    assertThat(limits.maxCqSize()).isEqualTo(256);
    assertThat(limits.maxQps()).isEqualTo(512);
    assertThat(limits.maxCqs()).isEqualTo(1024);
    assertThat(limits.maxEqs()).isEqualTo(2048);
    assertThat(limits.maxMpts()).isEqualTo(4096);
    assertThat(limits.maxPds()).isEqualTo(8192);
    assertThat(limits.maxGids()).isEqualTo(16384);
    assertThat(limits.maxPkeys()).isEqualTo(32768);
    assertThat(limits.minPageSize()).isEqualTo(0x80_0000);
  }

  static List<FieldRow> table326() {
    return List.of(
        row(
            "board_id",
            AdapterInfo.BOARD_ID,
            0x18,
            "ffffffffffffffff",
            "0123456789abcdef",
            0x0123456789abcdefL));
  }

  @ParameterizedTest
  @MethodSource("table326")
  void boardIdIsAtItsPlaceInTable326(FieldRow row) {
    row.check(32);
  }

  @Test
  void adapterOutboxHasOnlyTheBoardId() {
    FieldRow.checkComplete(AdapterInfo.LAYOUT, 32, table326());

    MemorySegment outbox = Bytes.filled(40, 0xff);
    new AdapterInfo(0xfedcba9876543210L).encode(outbox);

    assertThat(Bytes.hex(outbox))
        .isEqualTo(Bytes.body(32, "18: fedcba98 76543210") + "ff".repeat(8));
    assertThat(AdapterInfo.decode(outbox).boardId()).isEqualTo(0xfedcba9876543210L);
  }
}
