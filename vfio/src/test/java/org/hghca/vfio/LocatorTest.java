package org.hghca.vfio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LocatorTest {

  @Test
  void nameOfAPciAddressKeepsItsColons() {
    Locator locator = Locator.parse("pci:0000:03:00.0");

    assertThat(locator.scheme()).isEqualTo("pci");
    assertThat(locator.name()).isEqualTo("0000:03:00.0");
    assertThat(locator.parameters()).isEmpty();
  }

  @Test
  void parametersAreReadByName() {
    Locator locator = Locator.parse("model:left?cable=c0&mac=02:00:00:00:00:01");

    assertThat(locator.name()).isEqualTo("left");
    assertThat(locator.parameters()).isEqualTo(Map.of("cable", "c0", "mac", "02:00:00:00:00:01"));
    assertThat(locator.parameter("cable")).contains("c0");
    assertThat(locator.parameter("ip")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "model:a,model:b; model:a|model:b",
        "' model:a , , pci:0000:03:00.0,'; ' model:a|pci:0000:03:00.0'",
        "model:a?ip=10.0.0.1,fd00::1,model:b?ip=fd00::2,::1; "
            + "model:a?ip=10.0.0.1,fd00::1|model:b?ip=fd00::2,::1",
        "model:a?net=udp:10.0.0.1,[::1]&mac=02:00:00:00:00:01,vfio-user:/tmp/a.sock; "
            + "model:a?net=udp:10.0.0.1,[::1]&mac=02:00:00:00:00:01|vfio-user:/tmp/a.sock",
        "model:a?ip=10.0.0.1,10.0.0.2&mac=02:00:00:00:00:01; "
            + "model:a?ip=10.0.0.1,10.0.0.2&mac=02:00:00:00:00:01",
        "model:a?ip=10.0.0.1,2001:db8::1; model:a?ip=10.0.0.1,2001:db8::1"
      })
  void aListIsSeparatedByTheCommasThatSchemesFollow(String text, String parts) {
    assertThat(Locator.list(text)).containsExactly(parts.split("[|]"));
  }

  @Test
  void anEmptyListHasNoLocator() {
    assertThat(Locator.list("")).isEmpty();
    assertThat(Locator.list(" ,")).isEmpty();
  }

  @Test
  void nameMayBeEmpty() {
    assertThat(Locator.parse("model:").name()).isEmpty();
    assertThat(Locator.parse("model:?reset=none").parameter("reset")).contains("none");
  }

  @Test
  void valueMayBeEmptyAndMayContainSeparators() {
    assertThat(Locator.parse("model:a?x=").parameter("x")).contains("");
    assertThat(Locator.parse("model:a?x=b=c?d").parameter("x")).contains("b=c?d");
  }

  @ParameterizedTest
  @CsvSource({
    "vfio-user:/tmp/a%3Fb.sock, /tmp/a?b.sock, vfio-user:/tmp/a%3Fb.sock",
    "vfio-user:/tmp/a%3fb.sock?timeout=PT1S, /tmp/a?b.sock, vfio-user:/tmp/a%3Fb.sock?timeout=PT1S",
    "vfio-user:/tmp/100%, /tmp/100%, vfio-user:/tmp/100%",
    "vfio-user:/tmp/a%20b, /tmp/a%20b, vfio-user:/tmp/a%20b",
    "vfio-user:/tmp/a%253F, /tmp/a%3F, vfio-user:/tmp/a%253F"
  })
  void nameMayContainAQuestionMark(String text, String name, String again) {
    Locator locator = Locator.parse(text);

    assertThat(locator.name()).isEqualTo(name);
    assertThat(locator).hasToString(again);
    assertThat(Locator.parse(again)).isEqualTo(locator);
  }

  @Test
  void questionMarkInANameIsExplained() {
    assertThatThrownBy(() -> Locator.parse("vfio-user:/tmp/a?b.sock"))
        .hasMessageContaining(
            "'b.sock' is not of the form key=value (a ? in the name is written %3F)");
  }

  @Test
  void onlyParametersOfBackendAndDriverAreKnown() {
    Locator.parse(
            "rtl:a?port=1&as=r1&hcr=0x0&assumeClean=true&assumeProfile=true&eqEntries=64&events=poll&limit=PT5S&slow=1000&trace=t.json"
                + "&mac=02:00:00:00:00:01&ip=10.0.0.1")
        .checkParameters(List.of("port"));

    assertReason(
            Reason.INVALID, () -> Locator.parse("rtl:a?prot=1").checkParameters(List.of("port")))
        .hasMessageContaining(
            "unknown parameter 'prot'; known are as, assumeClean, assumeProfile,"
                + " eqEntries, events,")
        .hasMessageContaining("port, slow");
  }

  @Test
  void parameterIsSetReplacedAndRemoved() {
    Locator locator = Locator.parse("model:a?x=1");

    assertThat(locator.with("y", "2")).hasToString("model:a?x=1&y=2");
    assertThat(locator.with("x", "2")).hasToString("model:a?x=2");
    assertThat(locator.without("x")).hasToString("model:a");
    assertThat(locator.without("y")).isEqualTo(locator);
  }

  @Test
  void orderOfParametersDoesNotMatter() {
    Locator one = Locator.parse("model:a?x=1&y=2");
    Locator other = Locator.parse("model:a?y=2&x=1");

    assertThat(one).isEqualTo(other).hasSameHashCodeAs(other);
    assertThat(one.compareTo(other)).isZero();
    assertThat(other).hasToString("model:a?x=1&y=2");
  }

  @Test
  void locatorsDifferInSchemeNameAndParameters() {
    Locator locator = Locator.parse("model:a?x=1");

    assertThat(locator)
        .isNotEqualTo(Locator.parse("other:a?x=1"))
        .isNotEqualTo(Locator.parse("model:b?x=1"))
        .isNotEqualTo(Locator.parse("model:a?x=2"))
        .isNotEqualTo(Locator.parse("model:a"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"pci:0000:03:00.0", "model:", "model:a?cable=c0&mac=02:00:00:00:00:01"})
  void textIsReadBack(String text) {
    assertThat(Locator.parse(text)).hasToString(text);
    assertThat(Locator.parse(Locator.parse(text).toString())).isEqualTo(Locator.parse(text));
  }

  @Test
  void parametersAreACopyAndCannotBeChanged() {
    TreeMap<String, String> given = new TreeMap<>(Map.of("x", "1"));
    Locator locator = new Locator("model", "a", given);
    given.put("x", "2");

    assertThat(locator.parameter("x")).contains("1");
    assertThatThrownBy(() -> locator.parameters().put("y", "1"))
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "hghca0", ":name", "0000"})
  void textWithoutASchemeIsRefused(String text) {
    assertReason(Reason.INVALID, () -> Locator.parse(text))
        .hasMessageContainingAll(
            "'" + text + "' is not a locator", "scheme:name", "pci:0000:03:00.0");
  }

  @ParameterizedTest
  @CsvSource({
    "model:a?, ''",
    "model:a?x, x",
    "model:a?=1, =1",
    "model:a?x=1&, ''",
    "model:a?x=1&&y=2, ''"
  })
  void malformedParameterIsNamed(String text, String parameter) {
    assertReason(Reason.INVALID, () -> Locator.parse(text))
        .hasMessageContainingAll(text, "'" + parameter + "'", "key=value");
  }

  @Test
  void parameterGivenTwiceIsRefused() {
    assertReason(
            Reason.INVALID,
            () -> Locator.parse("model:a?mac=02:00:00:00:00:01&mac=02:00:00:00:00:02"))
        .hasMessageContaining("'mac'");
  }
}
