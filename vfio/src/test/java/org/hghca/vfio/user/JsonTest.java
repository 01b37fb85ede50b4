package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Texts of the grammar of RFC 8259, and invalid ones. */
final class JsonTest {

  @Test
  void valuesAreRead() {
    assertThat(Json.parse("{}")).isEqualTo(Map.of());
    assertThat(Json.parse(" [ ] ")).isEqualTo(List.of());
    assertThat(Json.parse("{ \"a\" : [1, -2, 0, true, false] ,\n\t\"b\":{\"c\":\"d\"}}"))
        .isEqualTo(Map.of("a", List.of(1L, -2L, 0L, true, false), "b", Map.of("c", "d")));
    assertThat(Json.parse("null")).isNull();
    assertThat(Json.parse("1.5")).isEqualTo(1.5);
    assertThat(Json.parse("-1e3")).isEqualTo(-1000.0);
    assertThat(Json.parse("9223372036854775807")).isEqualTo(Long.MAX_VALUE);
    assertThat(Json.parse("99999999999999999999")).isEqualTo(Long.MAX_VALUE);
    assertThat(Json.parse("-99999999999999999999")).isEqualTo(Long.MIN_VALUE);
    assertThat(Json.parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\u00e9\""))
        .isEqualTo("\"\\/\b\f\n\r\t\u00e9\u00e9");
    assertThat(Json.parse("{\"a\":1,\"a\":2}")).isEqualTo(Map.of("a", 2L));
    assertThat(Json.parse("[".repeat(32) + "]".repeat(32))).isInstanceOf(List.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,}",
        "{a:1}",
        "{'a':1}",
        "[1,]",
        "[1 2]",
        "{\"a\" 1}",
        "{1:1}",
        "{,}",
        "{}{}",
        "{} x",
        "tru",
        "nul",
        "True",
        "01",
        "+1",
        ".5",
        "1.",
        "1e",
        "-",
        "0x10",
        "NaN",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\",
        "\"a\nb\"",
        "// x\n{}",
        "{}\u00a0"
      })
  void whatIsNoJsonIsToldWhere(String text) {
    assertThatThrownBy(() -> Json.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no JSON at character ");
  }

  @Test
  void depthIsLimited() {
    assertThatThrownBy(() -> Json.parse("[".repeat(1_000_000)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Json.parse("{\"a\":".repeat(100) + "1" + "}".repeat(100)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
