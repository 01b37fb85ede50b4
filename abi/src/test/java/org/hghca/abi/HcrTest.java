package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class HcrTest {
  @Test
  void commandHasGoAndNoStatus() {
    assertThat(Hcr.command(0x003, 0)).isEqualTo(0x00800003);
    assertThat(Hcr.command(0xFFA, 1)).isEqualTo(0x00801FFA);
    assertThat(Hcr.command(0xFFF, 0xFF)).isEqualTo(0x008FFFFF);
  }

  @Test
  void valuesThatDoNotFitAreRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> Hcr.command(0x1000, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> Hcr.command(-1, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> Hcr.command(0, 0x100));
    assertThatIllegalArgumentException().isThrownBy(() -> Hcr.completed(0, 0x100));
    assertThatIllegalArgumentException().isThrownBy(() -> Hcr.tokenRegister(0x10000));
  }

  @Test
  void completionClearsGoAndKeepsTheRest() {
    // The RTL after NOP with op_modifier 5, and after QUERY_DEV_LIM with the event bit.
    assertThat(Hcr.completed(Hcr.command(0x031, 5), 0x02)).isEqualTo(0x02005031);
    assertThat(Hcr.completed(Hcr.command(0x003, 0) | Hcr.EVENT, 0x00)).isEqualTo(0x00400003);
    // Status bits that software wrote are replaced.
    assertThat(Hcr.completed(0xFF800003, 0x03)).isEqualTo(0x03000003);
  }

  @Test
  void fieldsOfTheCommandDword() {
    assertThat(Hcr.status(0xFF000003)).isEqualTo(0xFF);
    assertThat(Hcr.go(0x00800000)).isTrue();
    assertThat(Hcr.go(0xFF7FFFFF)).isFalse();
    assertThat(Hcr.event(0x00400000)).isTrue();
    assertThat(Hcr.event(0xFFBFFFFF)).isFalse();
    assertThat(Hcr.opModifier(0x02005031)).isEqualTo(5);
    assertThat(Hcr.opModifier(0xFFFFFFFF)).isEqualTo(0xFF);
    assertThat(Hcr.op(0x02005FFA)).isEqualTo(0xFFA);
  }

  @Test
  void tokenIsInTheHighHalf() {
    assertThat(Hcr.tokenRegister(Hcr.POLL_TOKEN)).isEqualTo(0xFFFF0000);
    assertThat(Hcr.token(0x5AA50000)).isEqualTo(0x5AA5);
  }

  @Test
  void registersFillTwentyEightBytes() {
    assertThat(
            new int[] {
              Hcr.IN_PARAM_HIGH,
              Hcr.IN_PARAM_LOW,
              Hcr.IN_MODIFIER,
              Hcr.OUT_PARAM_HIGH,
              Hcr.OUT_PARAM_LOW,
              Hcr.TOKEN,
              Hcr.COMMAND,
              Hcr.SIZE
            })
        .containsExactly(0, 4, 8, 12, 16, 20, 24, 28);
  }
}
