package org.hghca.conformance.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.hghca.verbs.Context;
import org.hghca.verbs.PortState;
import org.hghca.verbs.RdmaDevices;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.VfioException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** One HCA, which the system property {@code hghca.lab.hca} names, opened repeatedly. */
@EnabledIfSystemProperty(named = "hghca.lab.hca", matches = ".+")
class HcaResetTest {
  private static final String LOCATOR = System.getProperty("hghca.lab.hca", "");

  private static final int ALL_ONES = -1;

  private static PciFunction open() {
    return PciFunctions.open(Locator.parse(LOCATOR));
  }

  @Test
  void resetFunctionAnswers() {
    try (PciFunction function = open()) {
      int vendor = function.configuration().vendorId();
      assertThat(function.canReset()).isTrue();
      function.reset();
      assertThat(function.configuration().vendorId()).isEqualTo(vendor);
      assertThat(function.configuration().enableMemorySpace()).isTrue();
      assertThat(function.region(0).readInt(0)).isNotEqualTo(ALL_ONES);
    }
  }

  @Test
  void openDeviceIsNotOpenedAgain() {
    try (PciFunction function = open()) {
      assertThatThrownBy(HcaResetTest::open)
          .isInstanceOf(VfioException.class)
          .hasMessageContaining(function.locator().name());
    }
    open().close();
  }

  @Test
  void driverOpensItAfterAReset() {
    for (int i = 0; i < 3; i++) {
      try (PciFunction function = open()) {
        function.reset();
      }
      try (Context context = RdmaDevices.open(LOCATOR)) {
        assertThat(context.queryPort(1).state()).isEqualTo(PortState.ACTIVE);
      }
    }
  }
}
