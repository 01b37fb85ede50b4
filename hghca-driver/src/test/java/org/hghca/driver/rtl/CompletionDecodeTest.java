package org.hghca.driver.rtl;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.abi.BthOpcode;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.WqeOpcode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("hazard-5.4")
public class CompletionDecodeTest {
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

  @Test
  public void syndromeOfTheHighestByteIsMovedToTheLowest() {
    assertThat(CompletionDecode.cause(0x1100_0000) & 0xff).isEqualTo(0x11);
    assertThat(CompletionDecode.cause(0x1100_0713)).isEqualTo(0x1100_0713);
    assertThat(CompletionDecode.cause(0)).isZero();
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
}
