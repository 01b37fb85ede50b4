package org.hghca.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.hghca.driver.Failures.assertErrno;

import org.hghca.verbs.Errno;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RdmaDevices;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DeviceNamesTest {
  private static final String PROPERTY = "hghca.devices";

  @AfterEach
  void forget() {
    System.clearProperty(PROPERTY);
  }

  @Test
  void namesAreAssignedInTheOrderOfTheLocators() {
    System.setProperty(PROPERTY, "model:b, model:a?mac=02:00:00:00:00:0a");
    assertThat(RdmaDevices.list())
        .extracting(RdmaDevice::name, RdmaDevice::locator)
        .startsWith(tuple("hghca0", "model:a?mac=02:00:00:00:00:0a"), tuple("hghca1", "model:b"));
  }

  @Test
  void nodeGuidIsMadeFromTheMac() {
    System.setProperty(PROPERTY, "model:a?mac=02:00:00:00:00:0a");
    assertThat(RdmaDevices.list().getFirst().nodeGuid()).isEqualTo(0x0000_00ff_fe00_000aL);
  }

  @Test
  void unknownNameIsRefusedWithTheKnownOnes() {
    System.setProperty(PROPERTY, "model:a");
    assertErrno(Errno.ENODEV, () -> RdmaDevices.open("hghca7"))
        .hasMessageContaining("hghca7")
        .hasMessageContaining("hghca0");
  }

  @Test
  void unknownSchemeIsRefusedWithTheKnownOnes() {
    assertErrno(Errno.ENODEV, () -> RdmaDevices.open("tape:0"))
        .hasMessageContaining("tape:0")
        .hasMessageContaining("model:, pci:");
  }

  @Test
  void missingCardIsNamed() {
    assertErrno(Errno.ENODEV, () -> RdmaDevices.open("pci:ffff:ff:1f.7"))
        .hasMessageContaining("ffff:ff:1f.7")
        .hasMessageContaining("lspci");
  }
}
