package org.hghca.conformance.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.IntStream;
import org.hghca.abi.BthOpcode;
import org.hghca.abi.Cqe;
import org.hghca.abi.Syndrome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Interface document, section 3.3: completion queue entries, little-endian, and their syndromes.
 */
class CompletionQueueEntryTest {
  private static final int AT = 32;

  private static MemorySegment read(String literal) {
    return Bytes.of("ee".repeat(AT) + Bytes.hex(literal) + "ee".repeat(32));
  }

  private static String among(String literal) {
    return "ee".repeat(AT) + Bytes.hex(literal) + "ee".repeat(32);
  }

  @Test
  void successHasTheFieldsOfTable331() {
    MemorySegment cqe =
        read("04030201 14131211 24232221 34333231 44434241 54535251 64636261 0a01cc80");

    assertThat(Cqe.SIZE).isEqualTo(32);
    assertThat(Cqe.qpn(cqe, AT)).isEqualTo(0x01020304);
    assertThat(Cqe.ee(cqe, AT)).isEqualTo(0x11121314);
    assertThat(Cqe.remoteQpn(cqe, AT)).isEqualTo(0x21222324);
    assertThat(Cqe.remoteLid(cqe, AT)).isEqualTo(0x3132);
    assertThat(Cqe.path(cqe, AT)).isEqualTo(0x33);
    assertThat(Cqe.slIpok(cqe, AT)).isEqualTo(0x34);
    assertThat(Cqe.immediate(cqe, AT)).isEqualTo(0x41424344);
    assertThat(Cqe.byteCount(cqe, AT)).isEqualTo(0x51525354);
    assertThat(Cqe.wqeOffset(cqe, AT)).isEqualTo(0x61626364);
    assertThat(Cqe.owner(cqe, AT)).isEqualTo(0x80);
    assertThat(Cqe.lastDword(cqe, AT)).isEqualTo(0x80cc010a);
    assertThat(Cqe.owner(0x80cc010a)).isEqualTo(0x80);
    assertThat(Cqe.isSend(0x80cc010a)).isTrue();
    assertThat(Cqe.opcode(0x80cc010a)).isEqualTo(0x0a);
  }

  @Test
  void fieldsOfTheLastDwordDoNotOverlap() {
    assertThat(Cqe.owner(0x00ffffff)).isZero();
    assertThat(Cqe.owner(0xff000000)).isEqualTo(0xff);
    assertThat(Cqe.isSend(0xffff00ff)).isFalse();
    assertThat(Cqe.isSend(0x00000100)).isTrue();
    assertThat(Cqe.opcode(0xffffff00)).isZero();
    assertThat(Cqe.opcode(0x000000ff)).isEqualTo(0xff);
  }

  @Test
  void largeValuesAreReadUnsigned() {
    MemorySegment ones = Bytes.filled(96, 0xff);
    assertThat(Cqe.remoteLid(ones, AT)).isEqualTo(0xffff);
    assertThat(Cqe.owner(ones, AT)).isEqualTo(0xff);
    assertThat(Cqe.syndrome(ones, AT)).isEqualTo(0xff);
    assertThat(Cqe.vendorError(ones, AT)).isEqualTo(0xff);
    assertThat(Cqe.path(ones, AT)).isEqualTo(0xff);
    assertThat(Cqe.slIpok(ones, AT)).isEqualTo(0xff);
    assertThat(Cqe.doorbellCount(ones, AT)).isEqualTo(0xffff);
    assertThat(Cqe.topSyndrome(ones, AT)).isEqualTo(0xff);
  }

  @ParameterizedTest
  @CsvSource({
    "true,  0x0a, 0x00, 0a010000",
    "true,  0x10, 0x80, 10010080",
    "false, 0x05, 0x00, 05000000",
    "false, 0x0b, 0x80, 0b000080",
  })
  void deviceWritesASuccess(boolean isSend, String opcode, String owner, String lastDword) {
    MemorySegment ring = Bytes.filled(96, 0xee);
    Cqe.encodeSuccess(
        ring,
        AT,
        0x01020304,
        0x21222324,
        0x3132,
        0x41424344,
        0x51525354,
        0x61626364,
        isSend,
        Integer.decode(opcode),
        Integer.decode(owner));

    assertThat(Bytes.hex(ring))
        .isEqualTo(
            among("04030201 00000000 24232221 00003231 44434241 54535251 64636261 " + lastDword));
  }

  @Test
  void errorHasTheFieldsOfTable334() {
    MemorySegment cqe =
        read("04030201 00000000 00000000 00000000 15b2dcfe 00000000 64636261 ff000000");

    assertThat(Cqe.qpn(cqe, AT)).isEqualTo(0x01020304);
    assertThat(Cqe.syndrome(cqe, AT)).isEqualTo(0x15);
    assertThat(Cqe.vendorError(cqe, AT)).isEqualTo(0xb2);
    assertThat(Cqe.doorbellCount(cqe, AT)).isEqualTo(0xfedc);
    assertThat(Cqe.topSyndrome(cqe, AT)).isEqualTo(0xfe);
    assertThat(Cqe.wqeOffset(cqe, AT)).isEqualTo(0x61626364);
    assertThat(Cqe.opcode(Cqe.lastDword(cqe, AT))).isEqualTo(0xff);
    assertThat(Cqe.owner(cqe, AT)).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "true,  0x00, ff010000",
    "false, 0x00, ff000000",
    "false, 0x80, ff000080",
  })
  void deviceWritesAnError(boolean isSend, String owner, String lastDword) {
    MemorySegment ring = Bytes.filled(96, 0xee);
    Cqe.encodeError(ring, AT, 0x01020304, 0x61626364, 0x13, 0xb2, isSend, Integer.decode(owner));

    assertThat(Bytes.hex(ring))
        .isEqualTo(
            among("04030201 00000000 00000000 00000000 13b20000 00000000 64636261 " + lastDword));
  }

  @Test
  void ownersMatchTable332() {
    assertThat(Cqe.OWNER_SOFTWARE).isEqualTo(0x00);
    assertThat(Cqe.OWNER_HARDWARE).isEqualTo(0x80);
  }

  @Test
  void sentinelIsNotAnOwnerThatADeviceWrites() {
    MemorySegment ring = Bytes.zeros(96);
    Cqe.fill(ring, AT, 1);
    assertThat(Cqe.SENTINEL).isEqualTo(0xff);
    assertThat(Bytes.hex(ring)).isEqualTo("00".repeat(AT) + "ff".repeat(32) + "00".repeat(32));
    assertThat(Cqe.owner(ring, AT)).isEqualTo(Cqe.SENTINEL);

    Cqe.encodeSuccess(ring, AT, 2, 3, 0, 0, 64, 0, false, 4, 0);
    assertThat(Cqe.owner(ring, AT)).isZero();
    Cqe.arm(ring, AT);
    assertThat(Cqe.owner(ring, AT)).isEqualTo(Cqe.SENTINEL);
    assertThat(Bytes.hex(ring.asSlice(AT + 32))).isEqualTo("00".repeat(32));
  }

  @ParameterizedTest
  @CsvSource({
    "0x01, LOCAL_LENGTH_ERR",
    "0x02, LOCAL_QP_OP_ERR",
    "0x03, LOCAL_EEC_OP_ERR",
    "0x04, LOCAL_PROT_ERR",
    "0x05, WR_FLUSH_ERR",
    "0x06, MW_BIND_ERR",
    "0x10, BAD_RESP_ERR",
    "0x11, LOCAL_ACCESS_ERR",
    "0x12, REMOTE_INVAL_REQ_ERR",
    "0x13, REMOTE_ACCESS_ERR",
    "0x14, REMOTE_OP_ERR",
    "0x15, RETRY_EXC_ERR",
    "0x16, RNR_RETRY_EXC_ERR",
    "0x20, LOCAL_RDD_VIOL_ERR",
    "0x21, REMOTE_INVAL_RD_REQ_ERR",
    "0x22, REMOTE_ABORTED_ERR",
    "0x23, INVAL_EECN_ERR",
    "0x24, INVAL_EEC_STATE_ERR",
  })
  void syndromesMatchTheSecondTable333(String code, Syndrome syndrome) {
    assertThat(syndrome.code()).isEqualTo(Integer.decode(code));
    assertThat(Syndrome.of(Integer.decode(code))).isEqualTo(syndrome);
  }

  @Test
  void codesOutsideTheTableAreUnknownSyndromes() {
    List<Integer> known =
        IntStream.range(0, 256)
            .filter(code -> Syndrome.of(code) != Syndrome.UNKNOWN)
            .boxed()
            .toList();

    assertThat(Syndrome.UNKNOWN.code()).isZero();
    assertThat(known)
        .containsExactly(
            0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x20,
            0x21, 0x22, 0x23, 0x24);
  }

  @Test
  void receiveOpcodesAreTheLowBitsOfTheLastPacketsOpcode() {
    assertThat(BthOpcode.SEND_LAST).isEqualTo(0x02);
    assertThat(BthOpcode.SEND_LAST_IMM).isEqualTo(0x03);
    assertThat(BthOpcode.SEND_ONLY).isEqualTo(0x04);
    assertThat(BthOpcode.SEND_ONLY_IMM).isEqualTo(0x05);
    assertThat(BthOpcode.WRITE_LAST_IMM).isEqualTo(0x09);
    assertThat(BthOpcode.WRITE_ONLY_IMM).isEqualTo(0x0b);
  }

  @Test
  void fourReceiveOpcodesHaveAnImmediateTwoOfThemOfAWrite() {
    assertThat(IntStream.range(0, 32).filter(BthOpcode::hasImmediate))
        .containsExactly(0x03, 0x05, 0x09, 0x0b);
    assertThat(IntStream.range(0, 32).filter(BthOpcode::isWriteImmediate))
        .containsExactly(0x09, 0x0b);
  }

  @Test
  void offsetsAndBitsMatchTheTables() {
    assertThat(Cqe.QPN_OFFSET).isEqualTo(0x00);
    assertThat(Cqe.EE_OFFSET).isEqualTo(0x04);
    assertThat(Cqe.REMOTE_QPN_OFFSET).isEqualTo(0x08);
    assertThat(Cqe.REMOTE_LID_OFFSET).isEqualTo(0x0c);
    assertThat(Cqe.REMOTE_LID_SHIFT).isEqualTo(16);
    assertThat(Cqe.PATH_SHIFT).isEqualTo(8);
    assertThat(Cqe.PATH_GRH).isEqualTo(0x80);
    assertThat(Cqe.PATH_LMC_MASK).isEqualTo(0x7f);
    assertThat(Cqe.SL_IPOK_MASK).isEqualTo(0xff);
    assertThat(Cqe.IMMEDIATE_OFFSET).isEqualTo(0x10);
    assertThat(Cqe.SYNDROME_OFFSET).isEqualTo(0x10);
    assertThat(Cqe.VENDOR_ERROR_OFFSET).isEqualTo(0x11);
    assertThat(Cqe.DOORBELL_COUNT_SHIFT).isEqualTo(16);
    assertThat(Cqe.TOP_SYNDROME_OFFSET).isEqualTo(0x13);
    assertThat(Cqe.BYTE_COUNT_OFFSET).isEqualTo(0x14);
    assertThat(Cqe.WQE_OFFSET_OFFSET).isEqualTo(0x18);
    assertThat(Cqe.LAST_DWORD_OFFSET).isEqualTo(0x1c);
    assertThat(Cqe.OWNER_OFFSET).isEqualTo(0x1f);
    assertThat(Cqe.IS_SEND_SHIFT).isEqualTo(8);
    assertThat(Cqe.OWNER_SHIFT).isEqualTo(24);
    assertThat(Cqe.OPCODE_MASK).isEqualTo(0xff);
  }

  @Test
  void firstRtlGivesNoSyndromeOnRcAndByte13hOnUcAndUd() {
    MemorySegment rc =
        read("02000000 00000000 00000000 00000000 00000000 00000000 c0010000 ff000000");
    assertThat(Cqe.opcode(Cqe.lastDword(rc, AT))).isEqualTo(0xff);
    assertThat(Cqe.isSend(Cqe.lastDword(rc, AT))).isFalse();
    assertThat(Cqe.syndrome(rc, AT)).isZero();
    assertThat(Cqe.topSyndrome(rc, AT)).isZero();
    assertThat(Cqe.wqeOffset(rc, AT)).isEqualTo(0x1c0);

    MemorySegment ud =
        read("02000000 00000000 00000000 00000000 00000011 00000000 40000000 0a000000");
    assertThat(Cqe.opcode(Cqe.lastDword(ud, AT))).isEqualTo(0x0a);
    assertThat(Cqe.isSend(Cqe.lastDword(ud, AT))).isFalse();
    assertThat(Cqe.syndrome(ud, AT)).isZero();
    assertThat(Cqe.topSyndrome(ud, AT)).isEqualTo(0x11);
    assertThat(Cqe.wqeOffset(ud, AT)).isEqualTo(0x40);
  }
}
