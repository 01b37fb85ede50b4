package org.hghca.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.hghca.provider.FunctionProvider;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.testing.RecordedFunctions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which functions the driver of JingZhao cards leaves alone, and which it probes. */
class ForeignFunctionsTest {
  private final FunctionProvider provider = new FunctionProvider();

  @ParameterizedTest
  @ValueSource(strings = {"1000", "1041", "1042", "10ff"})
  void virtioFunctionIsNeverProbed(String device) {
    assertThat(provider.open("recorded:virtio-%s?vendor=1af4&device=%<s".formatted(device)))
        .isEmpty();
    assertThat(RecordedFunctions.calls("virtio-" + device)).containsExactly("open", "close");
  }

  @Test
  void virtioFunctionThatTheBusNamesIsNotEvenOpened() {
    assertThat(provider.open("recorded:named?known=true&vendor=1af4&device=1041")).isEmpty();
    assertThat(RecordedFunctions.calls("named")).isEmpty();
  }

  @Test
  void functionOfUnknownIdsIsProbed() {
    assertThatThrownBy(() -> provider.open("recorded:other?vendor=1af4&device=1100"))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("1af4:1100");
    assertThat(RecordedFunctions.calls("other")).contains("write configuration", "close");
  }
}
