package org.hghca.driver.card;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.abi.BthOpcode;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.WqeOpcode;
import org.hghca.verbs.Completions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("hazard-5.4")
public class CompletionDecodeTest {
  private static final CompletionDecode S = new CompletionDecode(HardwareProfile.S);
  private static final CompletionDecode R1 = new CompletionDecode(HardwareProfile.R1);
  private static final CompletionDecode R2 = new CompletionDecode(HardwareProfile.R2);

  @ParameterizedTest
  @ValueSource(ints = {WqeOpcode.RDMA_WRITE, WqeOpcode.SEND, WqeOpcode.RDMA_READ})
  public void opcodeThatNoReceiveHasIsASendErrorOnTheFirstRtl(int opcode) {
    assertThat(R1.isSendError(opcode, 0, 0)).isTrue();
    assertThat(R2.isSendError(opcode, 0, 0)).as("the second RTL reports no errors").isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {WqeOpcode.RDMA_WRITE_IMM, WqeOpcode.SEND_IMM})
  public void opcodeOfAReceiveIsAnErrorWithoutASender(int opcode) {
    assertThat(R1.isSendError(opcode, 0, 0)).isTrue();
    assertThat(R1.isSendError(opcode, 5, 100)).as("an RDMA WRITE with immediate").isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        BthOpcode.SEND_LAST,
        BthOpcode.SEND_LAST_IMM,
        BthOpcode.SEND_ONLY,
        BthOpcode.SEND_ONLY_IMM
      })
  public void receiveIsNoErrorWhateverItsSource(int opcode) {
    assertThat(R1.isSendError(opcode, 5, 100)).isFalse();
    assertThat(R1.isSendError(opcode, 0, 0)).isFalse();
  }

  @Test
  public void syndromeIsInTheLowByteOrInTheHighOne() {
    assertThat(CompletionDecode.syndrome(0x0000_0713)).isEqualTo(0x13);
    assertThat(CompletionDecode.syndrome(0x1100_0000)).isEqualTo(0x11);
    assertThat(CompletionDecode.syndrome(0)).isZero();
  }

  @Test
  public void immediateThatTheCardDoesNotDeliverIsNotReported() {
    assertThat(S.immediateFlags(BthOpcode.WRITE_ONLY_IMM)).isEqualTo(Completions.WITH_IMM);
    assertThat(S.immediateFlags(BthOpcode.SEND_ONLY)).isZero();
    assertThat(R1.immediateFlags(BthOpcode.WRITE_ONLY_IMM)).isZero();
    assertThat(R2.immediateFlags(BthOpcode.SEND_LAST_IMM)).isZero();
  }

  @Test
  public void onlyTheDocumentReportsErrorsOfReceives() {
    assertThat(S.reportsReceiveErrors()).isTrue();
    assertThat(R1.reportsReceiveErrors()).isFalse();
    assertThat(R2.reportsReceiveErrors()).isFalse();
  }
}
