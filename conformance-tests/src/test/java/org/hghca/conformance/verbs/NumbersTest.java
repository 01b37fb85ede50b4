package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.Test;

/** Numbers that programs compare with those of libibverbs. */
class NumbersTest {

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "tests/utils.py: poll_cq",
      says = "completion statuses have the numbers 0 to 21 of ibv_wc_status, and its texts")
  void statuses() {
    assertThat(WcStatus.values())
        .extracting(Enum::name)
        .containsExactly(
            "SUCCESS",
            "LOC_LEN_ERR",
            "LOC_QP_OP_ERR",
            "LOC_EEC_OP_ERR",
            "LOC_PROT_ERR",
            "WR_FLUSH_ERR",
            "MW_BIND_ERR",
            "BAD_RESP_ERR",
            "LOC_ACCESS_ERR",
            "REM_INV_REQ_ERR",
            "REM_ACCESS_ERR",
            "REM_OP_ERR",
            "RETRY_EXC_ERR",
            "RNR_RETRY_EXC_ERR",
            "LOC_RDD_VIOL_ERR",
            "REM_INV_RD_REQ_ERR",
            "REM_ABORT_ERR",
            "INV_EECN_ERR",
            "INV_EEC_STATE_ERR",
            "FATAL_ERR",
            "RESP_TIMEOUT_ERR",
            "GENERAL_ERR");
    for (int code = 0; code <= 21; code++) {
      assertThat(WcStatus.of(code).code()).isEqualTo(code);
    }
    assertThat(WcStatus.REM_OP_ERR.text()).isEqualToIgnoringCase("Remote operation error");
    assertThat(WcStatus.REM_ACCESS_ERR.text()).isEqualToIgnoringCase("Remote access error");
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "tests/base.py: RDMATestCase",
      says = "errnos, event types, queue pair types and states have the numbers of libibverbs")
  void otherNumbers() {
    assertThat(Errno.ENOMEM.number()).isEqualTo(12);
    assertThat(Errno.EBUSY.number()).isEqualTo(16);
    assertThat(Errno.EINVAL.number()).isEqualTo(22);
    assertThat(Errno.ENODATA.number()).isEqualTo(61);
    assertThat(Errno.EOPNOTSUPP.number()).isEqualTo(95);
    assertThat(AsyncEventType.CQ_ERR.code()).isZero();
    assertThat(AsyncEventType.SQ_DRAINED.code()).isEqualTo(5);
    assertThat(AsyncEventType.DEVICE_FATAL.code()).isEqualTo(8);
    assertThat(AsyncEventType.PORT_ACTIVE.code()).isEqualTo(9);
    assertThat(AsyncEventType.SRQ_LIMIT_REACHED.code()).isEqualTo(15);
    assertThat(Arrays.stream(QpType.values()).mapToInt(QpType::code)).containsExactly(2, 3, 4);
    assertThat(Arrays.stream(QpState.values()).mapToInt(QpState::code))
        .containsExactly(0, 1, 2, 3, 4, 5, 6);
  }
}
