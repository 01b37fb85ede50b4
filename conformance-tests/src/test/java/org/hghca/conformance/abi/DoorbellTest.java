package org.hghca.conformance.abi;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.abi.Doorbell;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Interface document, tables 3-1-6 and 3-1-7: the send doorbell of a UAR page. */
class DoorbellTest {
  @ParameterizedTest
  @CsvSource({
    // qpn, size0, sq_head, F, opcode, dword 04h, dword 00h
    "0x000000, 0x00, 0x0000, 0, 0x00, 00000000, 00000000",
    "0xffffff, 0x00, 0x0000, 0, 0x00, ffffff00, 00000000",
    "0x000000, 0xff, 0x0000, 0, 0x00, 000000ff, 00000000",
    "0x000000, 0x00, 0xffff, 0, 0x00, 00000000, 00ffff00",
    "0x000000, 0x00, 0x0000, 1, 0x00, 00000000, 00000020",
    "0x000000, 0x00, 0x0000, 0, 0x1f, 00000000, 0000001f",
    "0x123456, 0x21, 0xfedc, 1, 0x10, 12345621, 00fedc30",
    "0x800001, 0x04, 0x8001, 0, 0x0a, 80000104, 0080010a",
    "0x000002, 0x02, 0x0000, 0, 0x0b, 00000202, 0000000b",
    "0x000003, 0x03, 0x0010, 0, 0x08, 00000303, 00001008",
    "0x000003, 0x03, 0x0010, 0, 0x09, 00000303, 00001009",
  })
  void sendDoorbellHoldsTheFieldsOfTable317(
      String qpn, String size, String head, int fence, String opcode, String high, String low) {
    long value = Long.parseUnsignedLong(high + low, 16);

    assertThat(
            Doorbell.sendQueue(
                Integer.decode(qpn),
                Integer.decode(size),
                Integer.decode(head),
                fence,
                Integer.decode(opcode)))
        .isEqualTo(value);
    assertThat(Doorbell.qpn(value)).isEqualTo(Integer.decode(qpn));
    assertThat(Doorbell.size16(value)).isEqualTo(Integer.decode(size));
    assertThat(Doorbell.headUnits16(value)).isEqualTo(Integer.decode(head));
    assertThat(Doorbell.fence(value)).isEqualTo(fence);
    assertThat(Doorbell.opcode(value)).isEqualTo(Integer.decode(opcode));
  }

  @Test
  void valuesTooLargeDoNotReachOtherFields() {
    // above all 31:24, which the RTL would take as part of the offset
    assertThat(Doorbell.sendQueue(0, 0, 0xffff_0001, 0, 0)).isEqualTo(0x0000_0000_0000_0100L);
    assertThat(Doorbell.sendQueue(0, 0x101, 0, 0, 0)).isEqualTo(0x0000_0001_0000_0000L);
    assertThat(Doorbell.sendQueue(0x0100_0002, 0, 0, 0, 0)).isEqualTo(0x0000_0200_0000_0000L);
  }

  @Test
  void blankBitsAreNotRead() {
    long blank = 0x0000_0000_ff00_00c0L;

    assertThat(Doorbell.qpn(blank)).isZero();
    assertThat(Doorbell.size16(blank)).isZero();
    assertThat(Doorbell.headUnits16(blank)).isZero();
    assertThat(Doorbell.fence(blank)).isZero();
    assertThat(Doorbell.opcode(blank)).isZero();
  }

  @Test
  void registersOfAUarPage() {
    assertThat(Doorbell.SEND_QUEUE).isEqualTo(0x00);
    assertThat(Doorbell.CQ_ARM).isEqualTo(0x10); // not in the document; where the RTL decodes it
    assertThat(Doorbell.EQ_ARM).isEqualTo(0x20);
  }

  @Test
  void armValuesAreDefinedByThisProject() {
    assertThat(Doorbell.armCompletionQueue(0x123456, true)).isEqualTo(0x01123456);
    assertThat(Doorbell.armCompletionQueue(0x123456, false)).isEqualTo(0x02123456);
    assertThat(Doorbell.armedCqn(0x02123456)).isEqualTo(0x123456);
    assertThat(Doorbell.armsNext(0x02123456)).isTrue();
    assertThat(Doorbell.armsSolicited(0x02123456)).isFalse();
    assertThat(Doorbell.armsNext(0x01123456)).isFalse();
    assertThat(Doorbell.armsSolicited(0x01123456)).isTrue();
    assertThat(Doorbell.armEventQueue(0x1f, 0x123456)).isEqualTo(0x1234561f);
    assertThat(Doorbell.armedEqn(0x1234561f)).isEqualTo(0x1f);
    assertThat(Doorbell.consumerIndex(0x1234561f)).isEqualTo(0x123456);
  }

  @Test
  void bitsMatchTable317() {
    assertThat(Doorbell.OPCODE_MASK).isEqualTo(0x1f);
    assertThat(Doorbell.FENCE_SHIFT).isEqualTo(5);
    assertThat(Doorbell.HEAD_SHIFT).isEqualTo(8);
    assertThat(Doorbell.HEAD_MASK).isEqualTo(0xffff);
    assertThat(Doorbell.SIZE_SHIFT).isEqualTo(32);
    assertThat(Doorbell.SIZE_MASK).isEqualTo(0xff);
    assertThat(Doorbell.QPN_SHIFT).isEqualTo(40);
    assertThat(Doorbell.CQ_ARM_CQN_MASK).isEqualTo(0x00ff_ffff);
    assertThat(Doorbell.CQ_ARM_SOLICITED).isEqualTo(0x0100_0000);
    assertThat(Doorbell.CQ_ARM_NEXT).isEqualTo(0x0200_0000);
    assertThat(Doorbell.EQ_ARM_EQN_MASK).isEqualTo(0xff);
    assertThat(Doorbell.EQ_ARM_CONSUMER_INDEX_SHIFT).isEqualTo(8);
  }
}
