package org.hghca.virtio.abi.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The numbers of the RFC. */
class RoceCodesTest {
  @ParameterizedTest
  @CsvSource({
    "0, QUERY_DEVICE, 0, 128",
    "1, QUERY_PORT, 0, 32",
    "2, CREATE_CQ, 4, 4",
    "3, DESTROY_CQ, 4, 0",
    "4, CREATE_PD, 0, 4",
    "5, DESTROY_PD, 4, 0",
    "6, GET_DMA_MR, 8, 12",
    "7, REG_USER_MR, 32, 12",
    "8, DEREG_MR, 4, 0",
    "9, CREATE_QP, 56, 4",
    "10, MODIFY_QP, 128, 0",
    "11, QUERY_QP, 8, 120",
    "12, DESTROY_QP, 4, 0",
    "13, CREATE_AH, 48, 4",
    "14, DESTROY_AH, 8, 0",
    "15, ADD_GID, 24, 0",
    "16, DEL_GID, 2, 0",
    "17, REQ_NOTIFY_CQ, 8, 0",
  })
  void commandsHaveTheirCodesAndSizes(int code, RoceCommand command, int data, int ack) {
    assertThat(RoceCommand.of(code)).contains(command);
    assertThat(command.code()).isEqualTo(code);
    assertThat(command.dataSize()).isEqualTo(data);
    assertThat(command.ackSize()).isEqualTo(ack);
  }

  @Test
  void otherCodesAreNoCommands() {
    assertThat(RoceCommand.values()).hasSize(18);
    assertThat(RoceCommand.of(18)).isEmpty();
    assertThat(RoceCommand.of(255)).isEmpty();
    assertThat(RoceCommand.of(-1)).isEmpty();
  }

  @Test
  void dialectOfTheRfc() {
    Dialect dialect = Dialect.RFC_V2;
    assertThat(dialect.name()).isEqualTo("rfc-v2");
    assertThat(dialect.feature()).isEqualTo(55);
    assertThat(dialect.controlClass()).isEqualTo(6);
    assertThat(dialect.maxQps().offset()).isEqualTo(24);
    assertThat(dialect.maxQps().width()).isEqualTo(4);
    assertThat(dialect.maxCqs().offset()).isEqualTo(28);
    assertThat(dialect.maxCqs().width()).isEqualTo(4);
    assertThat(dialect.configSize()).isEqualTo(32);
    assertThat(Dialect.MOST_QUEUES).isEqualTo(16384);
  }

  @Test
  void anotherNumberingIsAnotherDialect() {
    Dialect later = new Dialect("later", 24, 9, 40);
    assertThat(later.maxQps().offset()).isEqualTo(40);
    assertThat(later.configSize()).isEqualTo(48);
    assertThatThrownBy(() -> new Dialect("wrong", 64, 6, 24))
        .hasMessage("wrong: a feature bit is 0 to 63, not 64");
    assertThatThrownBy(() -> new Dialect("wrong", 55, 256, 24))
        .hasMessage("wrong: a class is 0 to 255, not 256");
    assertThatThrownBy(() -> new Dialect("wrong", 55, 6, 26))
        .hasMessage("wrong: the offset is a multiple of 4, not 26");
  }

  @Test
  void queuesOfOnePair() {
    // Queues 0 and 1 are those of the pair, 2 is control; CQs 3 to 6; SQ and RQ of 2 QPs 7 to 10.
    QueuePlan plan = new QueuePlan(1, 4, 2);
    assertThat(QueuePlan.receive(0)).isEqualTo(0);
    assertThat(QueuePlan.transmit(0)).isEqualTo(1);
    assertThat(plan.control()).isEqualTo(2);
    assertThat(plan.completion(0)).isEqualTo(3);
    assertThat(plan.completion(3)).isEqualTo(6);
    assertThat(plan.send(0)).isEqualTo(7);
    assertThat(plan.receiveOf(0)).isEqualTo(8);
    assertThat(plan.send(1)).isEqualTo(9);
    assertThat(plan.receiveOf(1)).isEqualTo(10);
    assertThat(plan.queues()).isEqualTo(11);
  }

  @Test
  void queuesOfManyPairs() {
    QueuePlan plan = new QueuePlan(8191, 16384, 16384);
    assertThat(QueuePlan.receive(8190)).isEqualTo(16380);
    assertThat(QueuePlan.transmit(8190)).isEqualTo(16381);
    assertThat(plan.control()).isEqualTo(16382);
    assertThat(plan.completion(16383)).isEqualTo(32766);
    assertThat(plan.receiveOf(16383)).isEqualTo(65534);
    assertThat(plan.queues()).isEqualTo(65535);
  }

  @Test
  void moreQueuesThanADeviceCanHaveAreRefused() {
    assertThatThrownBy(() -> new QueuePlan(8192, 16384, 16384))
        .hasMessageContainingAll("8192 pairs", "65535");
    assertThatThrownBy(() -> new QueuePlan(1, 0, 1)).hasMessageContaining("1 to 16384 CQs, not 0");
    assertThatThrownBy(() -> new QueuePlan(1, 1, 16385)).hasMessageContaining("QPs, not 16385");
    assertThatThrownBy(() -> new QueuePlan(0, 1, 1)).hasMessageContaining("32768 pairs");
    assertThatThrownBy(() -> new QueuePlan(1, -1, 1)).hasMessageContaining("CQs, not -1");
  }

  @Test
  void codesThatAreThoseOfLibibverbs() {
    assertThat(new int[] {MrAccess.LOCAL_WRITE, MrAccess.REMOTE_WRITE, MrAccess.REMOTE_READ})
        .containsExactly(1, 2, 4);
    assertThat(new int[] {QpType.SMI, QpType.GSI, QpType.RC, QpType.UC, QpType.UD})
        .containsExactly(0, 1, 2, 3, 4);
    assertThat(
            new int[] {
              QpState.RESET,
              QpState.INIT,
              QpState.RTR,
              QpState.RTS,
              QpState.SQD,
              QpState.SQE,
              QpState.ERR
            })
        .containsExactly(0, 1, 2, 3, 4, 5, 6);
    assertThat(
            new int[] {
              SendRequest.RDMA_WRITE,
              SendRequest.RDMA_WRITE_WITH_IMM,
              SendRequest.SEND,
              SendRequest.SEND_WITH_IMM,
              SendRequest.RDMA_READ
            })
        .containsExactly(0, 1, 2, 3, 4);
    assertThat(
            new int[] {
              SendRequest.FLAG_FENCE,
              SendRequest.FLAG_SIGNALED,
              SendRequest.FLAG_SOLICITED,
              SendRequest.FLAG_INLINE
            })
        .containsExactly(1, 2, 4, 8);
    assertThat(new int[] {CompletionEntry.FLAG_GRH, CompletionEntry.FLAG_WITH_IMM})
        .containsExactly(1, 2);
  }

  @ParameterizedTest
  @CsvSource({"1, 256", "2, 512", "3, 1024", "4, 2048", "5, 4096"})
  void pathMtu(int code, int bytes) {
    assertThat(PathMtu.bytes(code)).isEqualTo(bytes);
  }

  @Test
  void otherPathMtusAreRefused() {
    assertThat(new int[] {PathMtu.MTU_256, PathMtu.MTU_1024, PathMtu.MTU_4096})
        .containsExactly(1, 3, 5);
    assertThat(new int[] {PathMtu.MTU_512, PathMtu.MTU_2048}).containsExactly(2, 4);
    assertThatThrownBy(() -> PathMtu.bytes(0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> PathMtu.bytes(6)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void codesOfOtherFlags() {
    assertThat(QueryDevice.RC_RNR_NAK_GEN).isEqualTo(1);
    assertThat(RequestNotify.SOLICITED).isEqualTo(1);
    assertThat(RequestNotify.NEXT_COMPLETION).isEqualTo(2);
    assertThat(RegisterUserMr.PAGE_SIZE).isEqualTo(4096);
  }

  @Test
  void opcodesOfCompletions() {
    assertThat(
            new int[] {
              CompletionEntry.SEND,
              CompletionEntry.RDMA_WRITE,
              CompletionEntry.RDMA_READ,
              CompletionEntry.RECV,
              CompletionEntry.RECV_RDMA_WITH_IMM
            })
        .containsExactly(0, 1, 2, 3, 4);
  }

  @Test
  void statusesOfCompletions() {
    assertThat(CompletionStatus.SUCCESS).isEqualTo(0);
    assertThat(CompletionStatus.LOC_LEN_ERR).isEqualTo(1);
    assertThat(CompletionStatus.LOC_QP_OP_ERR).isEqualTo(2);
    assertThat(CompletionStatus.LOC_PROT_ERR).isEqualTo(3);
    assertThat(CompletionStatus.WR_FLUSH_ERR).isEqualTo(4);
    assertThat(CompletionStatus.BAD_RESP_ERR).isEqualTo(5);
    assertThat(CompletionStatus.LOC_ACCESS_ERR).isEqualTo(6);
    assertThat(CompletionStatus.REM_INV_REQ_ERR).isEqualTo(7);
    assertThat(CompletionStatus.REM_ACCESS_ERR).isEqualTo(8);
    assertThat(CompletionStatus.REM_OP_ERR).isEqualTo(9);
    assertThat(CompletionStatus.RETRY_EXC_ERR).isEqualTo(10);
    assertThat(CompletionStatus.RNR_RETRY_EXC_ERR).isEqualTo(11);
    assertThat(CompletionStatus.REM_ABORT_ERR).isEqualTo(12);
    assertThat(CompletionStatus.FATAL_ERR).isEqualTo(13);
    assertThat(CompletionStatus.RESP_TIMEOUT_ERR).isEqualTo(14);
    assertThat(CompletionStatus.GENERAL_ERR).isEqualTo(15);
  }

  @Test
  void bitsOfAttributes() {
    assertThat(
            new int[] {
              QpAttributeMask.STATE,
              QpAttributeMask.CUR_STATE,
              QpAttributeMask.ACCESS_FLAGS,
              QpAttributeMask.QKEY,
              QpAttributeMask.AV,
              QpAttributeMask.PATH_MTU,
              QpAttributeMask.TIMEOUT,
              QpAttributeMask.RETRY_CNT,
              QpAttributeMask.RNR_RETRY,
              QpAttributeMask.RQ_PSN,
              QpAttributeMask.MAX_QP_RD_ATOMIC,
              QpAttributeMask.MIN_RNR_TIMER,
              QpAttributeMask.SQ_PSN,
              QpAttributeMask.MAX_DEST_RD_ATOMIC,
              QpAttributeMask.CAP,
              QpAttributeMask.DEST_QPN,
              QpAttributeMask.RATE_LIMIT
            })
        .containsExactly(
            0x1, 0x2, 0x4, 0x8, 0x10, 0x20, 0x40, 0x80, 0x100, 0x200, 0x400, 0x800, 0x1000, 0x2000,
            0x4000, 0x8000, 0x10000);
  }
}
