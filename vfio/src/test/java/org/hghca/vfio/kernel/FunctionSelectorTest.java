package org.hghca.vfio.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FunctionSelectorTest {

  private static PciDevice device(String address, int vendor, int device, int classCode) {
    return new PciDevice(
        address,
        vendor,
        device,
        classCode,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        List.of(),
        OptionalInt.empty(),
        List.of(),
        Optional.empty());
  }

  private static final PciDevice CARD = device("0000:0a:00.0", 0x10ee, 0x9038, 0x020700);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0000:0a:00.0",
        "0a:00.0",
        "0A:00.0",
        "id=10ee:9038",
        "10EE:9038",
        "1234:4843,10ee:9038",
        "id=1234:4843,10ee:9038",
        "class=0207",
        "0207",
        "class=020700",
        "020700"
      })
  void selectorMatchesItsCard(String text) {
    assertThat(FunctionSelector.parse(text).matches(CARD)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0001:0a:00.0",
        "0a:00.1",
        "id=10ee:9039",
        "9038:10ee",
        "1234:4843,10ee:9039",
        "class=0200",
        "class=020701",
        "0702"
      })
  void selectorDoesNotMatchOtherCards(String text) {
    assertThat(FunctionSelector.parse(text).matches(CARD)).isFalse();
  }

  @Test
  void domainsMayHaveMoreDigits() {
    assertThat(FunctionSelector.parse("10000:e1:00.0"))
        .isEqualTo(new FunctionSelector.At("10000:e1:00.0"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "0000:03:00",
        "0000:03:00.8",
        "0000:03:20.0",
        "../../../etc",
        "0000:03:00.0/..",
        "0000:03:00.00",
        "000g:03:00.0",
        "id=",
        "id=10ee",
        "10ee:9038,",
        "class=02",
        "class=02070",
        "id=0207",
        "address=03:00.0"
      })
  void otherTextIsRefused(String text) {
    assertReason(Reason.INVALID, () -> FunctionSelector.parse(text))
        .hasMessageContainingAll("'" + text + "'", "0000:03:00.0", "id=10ee:9038", "class=0207");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "03:00.0|at 0000:03:00.0",
        "10EE:9038,1234:4843|with id 10ee:9038 or 1234:4843",
        "0207|of class 0207"
      })
  void descriptionNamesTheSelection(String text, String words) {
    assertThat(FunctionSelector.parse(text)).hasToString(words);
  }
}
