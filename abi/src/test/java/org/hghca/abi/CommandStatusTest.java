package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CommandStatusTest {
  @Test
  void codesOfTheDocument() {
    assertThat(CommandStatus.of(0x00)).contains(CommandStatus.OK);
    assertThat(CommandStatus.of(0x02)).contains(CommandStatus.BAD_OP);
    assertThat(CommandStatus.of(0x03)).contains(CommandStatus.BAD_PARAM);
    assertThat(CommandStatus.of(0x04)).contains(CommandStatus.BAD_SYS_STATE);
    assertThat(CommandStatus.of(0x05)).contains(CommandStatus.BAD_NVMEM);
    assertThat(CommandStatus.of(0x0B)).contains(CommandStatus.RTL_BAD_NVMEM);
    assertThat(CommandStatus.of(0x01)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "0x00, HGHCA_CMD_STAT_OK",
    "0x02, HGHCA_CMD_STAT_BAD_OP",
    "0x03, HGHCA_CMD_STAT_BAD_PARAM",
    "0x04, HGHCA_CMD_STAT_BAD_SYS_STATE",
    "0x05, HGHCA_CMD_STAT_BAD_NVMEM"
  })
  void statusesHaveTheCodesAndSymbolsOfTable315(String code, String symbol) {
    CommandStatus status = CommandStatus.of(Integer.decode(code)).orElseThrow();
    assertThat(status.code()).isEqualTo(Integer.decode(code));
    assertThat(status.symbol()).isEqualTo(symbol);
    assertThat(CommandStatus.describe(Integer.decode(code))).contains(symbol);
  }

  @Test
  void describeNamesSymbolAndCode() {
    assertThat(CommandStatus.describe(0x03))
        .isEqualTo("HGHCA_CMD_STAT_BAD_PARAM (0x03: wrong parameter)");
  }

  @Test
  void describeGivesBothMeaningsOfFive() {
    assertThat(CommandStatus.describe(0x05)).contains("BAD_NVMEM", "BAD_RESOURCE", "0x05");
    assertThat(CommandStatus.describe(0x0B)).contains("BAD_NVMEM", "RTL", "0x0b");
  }

  @Test
  void describeSplitsOredCodes() {
    assertThat(CommandStatus.describe(0x06))
        .isEqualTo("0x06, several codes ORed: HGHCA_CMD_STAT_BAD_OP|HGHCA_CMD_STAT_BAD_SYS_STATE");
    assertThat(CommandStatus.describe(0x07))
        .contains("HGHCA_CMD_STAT_BAD_PARAM|HGHCA_CMD_STAT_BAD_SYS_STATE", " or ");
  }

  @Test
  void describeReportsUnknownCodes() {
    assertThat(CommandStatus.describe(0xE0)).isEqualTo("unknown status 0xe0");
  }
}
