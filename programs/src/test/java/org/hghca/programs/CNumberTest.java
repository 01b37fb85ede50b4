package org.hghca.programs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class CNumberTest {

  @ParameterizedTest
  @CsvSource({"16, 16", "0x10, 16", "0XfF, 255", "020, 16", "0, 0", "-1, -1", "+7, 7"})
  void baseIsThatOfTheText(String text, int value) {
    assertThat(new CNumber().convert(text)).isEqualTo(value);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "abc", "4k", "#10", "-#10", "0x", "4294967296"})
  void otherTextIsRefused(String text) {
    assertThatThrownBy(() -> new CNumber().convert(text))
        .isInstanceOf(TypeConversionException.class)
        .hasMessage("'%s' is not a whole number", text);
  }
}
