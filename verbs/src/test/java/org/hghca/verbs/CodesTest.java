package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Numbers and texts, against those of libibverbs. */
class CodesTest {

  @ParameterizedTest
  @CsvSource({
    "0, SUCCESS, success",
    "1, LOC_LEN_ERR, local length error",
    "2, LOC_QP_OP_ERR, local QP operation error",
    "3, LOC_EEC_OP_ERR, local EE context operation error",
    "4, LOC_PROT_ERR, local protection error",
    "5, WR_FLUSH_ERR, Work Request Flushed Error",
    "6, MW_BIND_ERR, memory management operation error",
    "7, BAD_RESP_ERR, bad response error",
    "8, LOC_ACCESS_ERR, local access error",
    "9, REM_INV_REQ_ERR, remote invalid request error",
    "10, REM_ACCESS_ERR, remote access error",
    "11, REM_OP_ERR, remote operation error",
    "12, RETRY_EXC_ERR, transport retry counter exceeded",
    "13, RNR_RETRY_EXC_ERR, RNR retry counter exceeded",
    "14, LOC_RDD_VIOL_ERR, local RDD violation error",
    "15, REM_INV_RD_REQ_ERR, remote invalid RD request",
    "16, REM_ABORT_ERR, aborted error",
    "17, INV_EECN_ERR, invalid EE context number",
    "18, INV_EEC_STATE_ERR, invalid EE context state",
    "19, FATAL_ERR, fatal error",
    "20, RESP_TIMEOUT_ERR, response timeout error",
    "21, GENERAL_ERR, general error"
  })
  void completionStatus(int code, WcStatus status, String text) {
    assertThat(status.code()).isEqualTo(code);
    assertThat(status.text()).isEqualTo(text);
    assertThat(WcStatus.of(code)).isSameAs(status);
    assertThat(WcStatus.values()).hasSize(22);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 22, 255})
  void completionStatusThatDoesNotExist(int code) {
    assertThatThrownBy(() -> WcStatus.of(code))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining(Integer.toString(code));
  }

  @ParameterizedTest
  @CsvSource({
    "0, SEND, false",
    "1, RDMA_WRITE, false",
    "2, RDMA_READ, false",
    "3, COMP_SWAP, false",
    "4, FETCH_ADD, false",
    "128, RECV, true",
    "129, RECV_RDMA_WITH_IMM, true"
  })
  void completionOpcode(int code, WcOpcode opcode, boolean receive) {
    assertThat(opcode.code()).isEqualTo(code);
    assertThat(WcOpcode.of(code)).isSameAs(opcode);
    assertThat(opcode.isReceive()).isEqualTo(receive);
    assertThat(WcOpcode.values()).hasSize(7);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 5, 127, 130, 256})
  void completionOpcodeThatDoesNotExist(int code) {
    assertThatThrownBy(() -> WcOpcode.of(code))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining(Integer.toString(code));
  }

  @ParameterizedTest
  @CsvSource({
    "0, RDMA_WRITE, RDMA_WRITE",
    "1, RDMA_WRITE_WITH_IMM, RDMA_WRITE",
    "2, SEND, SEND",
    "3, SEND_WITH_IMM, SEND",
    "4, RDMA_READ, RDMA_READ",
    "5, ATOMIC_CMP_AND_SWP, COMP_SWAP",
    "6, ATOMIC_FETCH_AND_ADD, FETCH_ADD"
  })
  void requestOpcode(int code, WrOpcode opcode, WcOpcode completion) {
    assertThat(opcode.code()).isEqualTo(code);
    assertThat(opcode.completion()).isSameAs(completion);
    assertThat(WrOpcode.values()).hasSize(7);
  }

  @ParameterizedTest
  @CsvSource({"0,RESET", "1,INIT", "2,RTR", "3,RTS", "4,SQD", "5,SQE", "6,ERR"})
  void queuePairState(int code, QpState state) {
    assertThat(state.code()).isEqualTo(code);
    assertThat(QpState.values()).hasSize(7);
  }

  @ParameterizedTest
  @CsvSource({"2,RC", "3,UC", "4,UD"})
  void queuePairType(int code, QpType type) {
    assertThat(type.code()).isEqualTo(code);
    assertThat(QpType.values()).hasSize(3);
  }

  @ParameterizedTest
  @CsvSource({
    "1, 256, MTU_256",
    "2, 512, MTU_512",
    "3, 1024, MTU_1024",
    "4, 2048, MTU_2048",
    "5, 4096, MTU_4096"
  })
  void pathMtu(int code, int bytes, Mtu mtu) {
    assertThat(mtu.code()).isEqualTo(code);
    assertThat(mtu.bytes()).isEqualTo(bytes);
    assertThat(Mtu.of(code)).isSameAs(mtu);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 6, 1024})
  void pathMtuThatDoesNotExist(int code) {
    assertThatThrownBy(() -> Mtu.of(code)).isInstanceOf(VerbsException.class);
  }

  @ParameterizedTest
  @CsvSource({
    "0x1, LOCAL_WRITE",
    "0x2, REMOTE_WRITE",
    "0x4, REMOTE_READ",
    "0x8, REMOTE_ATOMIC",
    "0x10, MW_BIND",
    "0x20, ZERO_BASED",
    "0x40, ON_DEMAND",
    "0x100000, RELAXED_ORDERING"
  })
  void accessFlag(int bit, AccessFlag flag) {
    assertThat(flag.bit()).isEqualTo(bit);
    assertThat(AccessFlag.of(bit)).containsExactly(flag);
    assertThat(AccessFlag.bits(EnumSet.of(flag))).isEqualTo(bit);
    assertThat(AccessFlag.values()).hasSize(8);
  }

  @Test
  void accessFlagsAreASum() {
    assertThat(AccessFlag.bits(Set.of())).isZero();
    assertThat(AccessFlag.bits(EnumSet.allOf(AccessFlag.class))).isEqualTo(0x10_007f);
    assertThat(AccessFlag.of(0x7))
        .containsExactlyInAnyOrder(
            AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
    assertThat(AccessFlag.of(0x8000_0080)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "0, STATE",
    "1, CUR_STATE",
    "2, EN_SQD_ASYNC_NOTIFY",
    "3, ACCESS_FLAGS",
    "4, PKEY_INDEX",
    "5, PORT",
    "6, QKEY",
    "7, AV",
    "8, PATH_MTU",
    "9, TIMEOUT",
    "10, RETRY_CNT",
    "11, RNR_RETRY",
    "12, RQ_PSN",
    "13, MAX_QP_RD_ATOMIC",
    "14, ALT_PATH",
    "15, MIN_RNR_TIMER",
    "16, SQ_PSN",
    "17, MAX_DEST_RD_ATOMIC",
    "18, PATH_MIG_STATE",
    "19, CAP",
    "20, DEST_QPN"
  })
  void attributeOfTableA13(int shift, QpAttribute attribute) {
    assertThat(attribute.bit()).isEqualTo(1 << shift);
    assertThat(QpAttribute.values()).hasSize(21);
  }

  @ParameterizedTest
  @CsvSource({
    "0, NOP, invalid state",
    "1, DOWN, PORT_DOWN",
    "2, INIT, PORT_INIT",
    "3, ARMED, PORT_ARMED",
    "4, ACTIVE, PORT_ACTIVE",
    "5, ACTIVE_DEFER, invalid state"
  })
  void portStateAsDevinfoPrintsIt(int code, PortState state, String text) {
    assertThat(state.code()).isEqualTo(code);
    assertThat(state.text()).isEqualTo(text);
    assertThat(PortState.values()).hasSize(6);
  }

  @ParameterizedTest
  @CsvSource({
    "5, EIO",
    "11, EAGAIN",
    "12, ENOMEM",
    "13, EACCES",
    "14, EFAULT",
    "16, EBUSY",
    "19, ENODEV",
    "22, EINVAL",
    "61, ENODATA",
    "95, EOPNOTSUPP",
    "98, EADDRINUSE",
    "99, EADDRNOTAVAIL",
    "101, ENETUNREACH",
    "104, ECONNRESET",
    "110, ETIMEDOUT",
    "111, ECONNREFUSED",
    "113, EHOSTUNREACH"
  })
  void errorNumberOfLinux(int number, String name) {
    Errno errno = Errno.valueOf(name);

    assertThat(errno.number()).isEqualTo(number);
    assertThat(errno).hasToString(name + " (" + number + ")");
    assertThat(Errno.values()).hasSize(17);
  }

  @Test
  void gidTypeTexts() {
    assertThat(GidType.ROCE_V1.text()).isEqualTo("RoCE v1");
    assertThat(GidType.ROCE_V2.text()).isEqualTo("RoCE v2");
  }

  @Test
  void completionFlags() {
    assertThat(Completions.GRH).isEqualTo(1);
    assertThat(Completions.WITH_IMM).isEqualTo(2);
  }
}
