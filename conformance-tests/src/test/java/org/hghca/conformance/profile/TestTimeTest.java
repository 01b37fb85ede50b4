package org.hghca.conformance.profile;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.vfio.TimeScale;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TestTimeTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | 1",
        "pci:03:00.0 | 1",
        "rtl:a?slow=1000 | 1000",
        "rtl:a?slow=20,rtl:b?slow=1000 | 1000",
        "model:,rtl:b?slow=3 | 3"
      })
  void testsWaitAsLongAsTheSlowestDeviceNeeds(String locators, int factor) {
    assertThat(TestTime.slowest(locators).factor()).isEqualTo(factor);
  }

  @ParameterizedTest
  @CsvSource({"1, 1000, 1000", "10, 1000, 100", "300, 1000, 3", "5000, 1000, 1"})
  void testsDoLessOnASlowDevice(int factor, int ofCard, int there) {
    assertThat(TestTime.fewer(ofCard, new TimeScale(factor))).isEqualTo(there);
  }
}
