package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CodesTest {
  @ParameterizedTest
  @CsvSource({
    "LOCAL_LENGTH_ERR, 0x1",
    "LOCAL_QP_OP_ERR, 0x2",
    "LOCAL_EEC_OP_ERR, 0x3",
    "LOCAL_PROT_ERR, 0x4",
    "WR_FLUSH_ERR, 0x5",
    "MW_BIND_ERR, 0x6",
    "BAD_RESP_ERR, 0x10",
    "LOCAL_ACCESS_ERR, 0x11",
    "REMOTE_INVAL_REQ_ERR, 0x12",
    "REMOTE_ACCESS_ERR, 0x13",
    "REMOTE_OP_ERR, 0x14",
    "RETRY_EXC_ERR, 0x15",
    "RNR_RETRY_EXC_ERR, 0x16",
    "LOCAL_RDD_VIOL_ERR, 0x20",
    "REMOTE_INVAL_RD_REQ_ERR, 0x21",
    "REMOTE_ABORTED_ERR, 0x22",
    "INVAL_EECN_ERR, 0x23",
    "INVAL_EEC_STATE_ERR, 0x24"
  })
  void syndromesHaveTheCodesOfTable333(String name, String code) {
    assertThat(Syndrome.valueOf(name).code()).isEqualTo(Integer.decode(code));
    assertThat(Syndrome.of(Integer.decode(code)).name()).isEqualTo(name);
  }

  @Test
  void onlyEighteenCodesAreSyndromes() {
    long known = 0;
    for (int code = 0; code <= 0xff; code++) {
      if (Syndrome.of(code) != Syndrome.UNKNOWN) {
        known++;
      }
    }
    assertThat(known).isEqualTo(18);
    assertThat(Syndrome.values()).hasSize(19);
    assertThat(Syndrome.UNKNOWN.code()).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 7, 0x0f, 0x17, 0x25, 0xff, Integer.MAX_VALUE, Integer.MIN_VALUE})
  void otherCodesAreUnknown(int code) {
    assertThat(Syndrome.of(code)).isEqualTo(Syndrome.UNKNOWN);
  }

  @Test
  void opcodesHaveTheValuesOfTable333() {
    assertThat(WqeOpcode.NOP).isEqualTo(0x00);
    assertThat(WqeOpcode.RDMA_WRITE).isEqualTo(0x08);
    assertThat(WqeOpcode.RDMA_WRITE_IMM).isEqualTo(0x09);
    assertThat(WqeOpcode.SEND).isEqualTo(0x0a);
    assertThat(WqeOpcode.SEND_IMM).isEqualTo(0x0b);
    assertThat(WqeOpcode.RDMA_READ).isEqualTo(0x10);
    assertThat(WqeOpcode.ATOMIC_CS).isEqualTo(0x11);
    assertThat(WqeOpcode.ATOMIC_FA).isEqualTo(0x12);
    assertThat(WqeOpcode.BIND_MW).isEqualTo(0x18);
    assertThat(WqeOpcode.INVALID).isEqualTo(0xff);
  }

  @ParameterizedTest
  @CsvSource({
    "0x00, NOP",
    "0x08, RDMA_WRITE",
    "0x09, RDMA_WRITE_IMM",
    "0x0a, SEND",
    "0x0b, SEND_IMM",
    "0x10, RDMA_READ",
    "0x11, ATOMIC_CS",
    "0x12, ATOMIC_FA",
    "0x18, BIND_MW",
    "0xff, INVALID",
    "0x1f, opcode 0x1f",
    "0x01, opcode 0x01"
  })
  void opcodesHaveNames(String code, String name) {
    assertThat(WqeOpcode.name(Integer.decode(code))).isEqualTo(name);
  }

  @Test
  void receiveOpcodesAreTheLowFiveBitsOfTheBth() {
    assertThat(BthOpcode.SEND_LAST).isEqualTo(0x02);
    assertThat(BthOpcode.SEND_LAST_IMM).isEqualTo(0x03);
    assertThat(BthOpcode.SEND_ONLY).isEqualTo(0x04);
    assertThat(BthOpcode.SEND_ONLY_IMM).isEqualTo(0x05);
    assertThat(BthOpcode.WRITE_LAST_IMM).isEqualTo(0x09);
    assertThat(BthOpcode.WRITE_ONLY_IMM).isEqualTo(0x0b);
  }

  @Test
  void fourReceiveOpcodesCarryAnImmediateAndTwoAreWrites() {
    int[] immediates = codes(BthOpcode::hasImmediate);
    assertThat(immediates).containsExactly(0x03, 0x05, 0x09, 0x0b);
    int[] writes = codes(BthOpcode::isWriteImmediate);
    assertThat(writes).containsExactly(0x09, 0x0b);
  }

  private static int[] codes(IntPredicate test) {
    int[] all = new int[256];
    Arrays.setAll(all, i -> i);
    return Arrays.stream(all).filter(test).toArray();
  }
}
