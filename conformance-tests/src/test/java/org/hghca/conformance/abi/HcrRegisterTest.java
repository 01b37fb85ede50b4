package org.hghca.conformance.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.hghca.abi.Bar;
import org.hghca.abi.CommandStatus;
import org.hghca.abi.Hcr;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Interface document, tables 3-1-1 to 3-1-5: the BARs and the command register. */
class HcrRegisterTest {
  @Test
  void barsHaveTheSizesOfTable311() {
    assertThat(Bar.BAR0).isEqualTo(0);
    assertThat(Bar.BAR2).isEqualTo(2);
    assertThat(Bar.BAR0_SIZE).isEqualTo(0x10_0000);
    assertThat(Bar.BAR2_SIZE).isEqualTo(0x80_0000);
  }

  @Test
  void registersAreWhereTable312PutsThem() {
    assertThat(Bar.HCR_DOCUMENT).isEqualTo(0x80000);
    assertThat(Bar.RESET_DOCUMENT).isEqualTo(0xf0010);
    assertThat(Hcr.SIZE).isEqualTo(28);
  }

  @Test
  void registersAreElsewhereInTheRtl() {
    assertThat(Bar.HCR_RTL).isEqualTo(0);
    assertThat(Bar.RESET_RTL).isEqualTo(0xf10);
    assertThat(Bar.FORBIDDEN_RTL_FIRST).isEqualTo(0x10000);
    assertThat(Bar.FORBIDDEN_RTL_LAST).isEqualTo(0x9ffff);
  }

  @ParameterizedTest
  @CsvSource({"0, 0x000000", "1, 0x001000", "5, 0x005000", "2047, 0x7ff000"})
  void bar2HoldsUarPagesOf4096Bytes(int page, String offset) {
    assertThat(Bar.uarPageOffset(page)).isEqualTo(Long.decode(offset));
    assertThat(Bar.UAR_PAGE_SIZE).isEqualTo(4096);
    assertThat(Bar.UAR_PAGES).isEqualTo(2048);
  }

  @Test
  void dwordsAreInTheOrderOfTable313HighHalvesFirst() {
    assertThat(Hcr.IN_PARAM_HIGH).isEqualTo(0x00);
    assertThat(Hcr.IN_PARAM_LOW).isEqualTo(0x04);
    assertThat(Hcr.IN_MODIFIER).isEqualTo(0x08);
    assertThat(Hcr.OUT_PARAM_HIGH).isEqualTo(0x0c);
    assertThat(Hcr.OUT_PARAM_LOW).isEqualTo(0x10);
    assertThat(Hcr.TOKEN).isEqualTo(0x14);
    assertThat(Hcr.COMMAND).isEqualTo(0x18);
  }

  @Test
  void tokenFillsTheHighHalf() {
    assertThat(Hcr.POLL_TOKEN).isEqualTo(0xffff);
    assertThat(Hcr.tokenRegister(0xffff)).isEqualTo(0xffff0000);
    assertThat(Hcr.tokenRegister(0x5aa5)).isEqualTo(0x5aa50000);
    assertThat(Hcr.token(0x5aa51234)).isEqualTo(0x5aa5);
    assertThat(Hcr.token(0xffff0000)).isEqualTo(0xffff);
  }

  @ParameterizedTest
  @CsvSource({
    // op, op_modifier, the dword at 18h
    "0x003, 0x00, 0x00800003",
    "0xffa, 0x01, 0x00801ffa",
    "0xff9, 0x02, 0x00802ff9",
    "0x021, 0x03, 0x00803021",
    "0x031, 0x05, 0x00805031",
    "0xfff, 0xff, 0x008fffff",
    "0x000, 0x00, 0x00800000",
  })
  void commandDwordHoldsOpModifierAndGo(String op, String opModifier, String dword) {
    int command = Hcr.command(Integer.decode(op), Integer.decode(opModifier));

    assertThat(command).isEqualTo(Integer.decode(dword));
    assertThat(Hcr.op(command)).isEqualTo(Integer.decode(op));
    assertThat(Hcr.opModifier(command)).isEqualTo(Integer.decode(opModifier));
    assertThat(Hcr.go(command)).isTrue();
    assertThat(Hcr.event(command)).isFalse();
    assertThat(Hcr.status(command)).isZero();
  }

  @Test
  void eachBitOf18hBelongsToTheFieldOfTable314() {
    assertThat(Hcr.GO).isEqualTo(0x0080_0000);
    assertThat(Hcr.EVENT).isEqualTo(0x0040_0000);
    assertThat(Hcr.status(0xff00_0000)).isEqualTo(0xff);
    assertThat(Hcr.status(0x00ff_ffff)).isZero();
    assertThat(Hcr.go(0x0080_0000)).isTrue();
    assertThat(Hcr.go(0xff7f_ffff)).isFalse();
    assertThat(Hcr.event(0x0040_0000)).isTrue();
    assertThat(Hcr.event(0xffbf_ffff)).isFalse();
    assertThat(Hcr.opModifier(0x000f_f000)).isEqualTo(0xff);
    assertThat(Hcr.opModifier(0xfff0_0fff)).isZero();
    assertThat(Hcr.op(0x0000_0fff)).isEqualTo(0xfff);
    assertThat(Hcr.op(0xffff_f000)).isZero();
  }

  @Test
  void completionSetsStatusClearsGoAndKeepsTheRest() {
    assertThat(Hcr.completed(0x00805031, 0x02)).isEqualTo(0x02005031);
    assertThat(Hcr.completed(0x00c00003, 0x00)).isEqualTo(0x00400003);
    assertThat(Hcr.completed(0x00801ffa, 0xff)).isEqualTo(0xff001ffa);
  }

  @Test
  void valuesThatDoNotFitAreRefused() {
    assertThatThrownBy(() -> Hcr.command(0x1000, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Hcr.command(3, 0x100)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Hcr.completed(0x00800003, 0x100))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Hcr.tokenRegister(0x10000))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @CsvSource({
    "0x00, HGHCA_CMD_STAT_OK",
    "0x02, HGHCA_CMD_STAT_BAD_OP",
    "0x03, HGHCA_CMD_STAT_BAD_PARAM",
    "0x04, HGHCA_CMD_STAT_BAD_SYS_STATE",
    "0x05, HGHCA_CMD_STAT_BAD_NVMEM",
  })
  void statusCodesMatchTable315(String code, String symbol) {
    CommandStatus status = CommandStatus.of(Integer.decode(code)).orElseThrow();

    assertThat(status.code()).isEqualTo(Integer.decode(code));
    assertThat(status.symbol()).isEqualTo(symbol);
    assertThat(CommandStatus.describe(Integer.decode(code)))
        .contains(symbol)
        .containsIgnoringCase(code.substring(2));
  }

  @ParameterizedTest
  @ValueSource(ints = {0x01, 0x06, 0x07, 0x80, 0xff})
  void codesOutsideTheTableHaveNoNameButAreShown(int code) {
    assertThat(CommandStatus.of(code)).isEmpty();
    assertThat(CommandStatus.describe(code)).containsIgnoringCase("%02x".formatted(code));
  }

  @Test
  void statusOnWhichDocumentAndRtlDisagreeNamesBothMeanings() {
    assertThat(CommandStatus.describe(0x05)).contains("BAD_NVMEM").contains("BAD_RESOURCE");
    assertThat(CommandStatus.describe(0x0b)).contains("BAD_NVMEM");
  }
}
