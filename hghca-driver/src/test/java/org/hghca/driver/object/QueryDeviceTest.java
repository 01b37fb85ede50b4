package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.verbs.DeviceAttributes;
import org.junit.jupiter.api.Test;

/** The software HCA answers QUERY_DEV_LIM as the makers' RTL does. */
class QueryDeviceTest {

  @Test
  void reservedObjectsAreNotCounted() {
    try (DriverFixture it = new DriverFixture()) {
      DeviceAttributes device = it.context.queryDevice();
      assertThat(device.maxQp()).isEqualTo((1 << 14) - (1 << 1));
      assertThat(device.maxCq()).isEqualTo((1 << 13) - 1);
      assertThat(device.maxMr()).isEqualTo((1 << 14) - 1);
      assertThat(device.maxPd()).isEqualTo((1 << 12) - 1);
    }
  }

  @Test
  void queuesHoldOneRequestLessThanTheirSlots() {
    try (DriverFixture it = new DriverFixture()) {
      DeviceAttributes device = it.context.queryDevice();
      assertThat(device.maxQpWr()).isEqualTo((1 << 13) - 1);
      assertThat(device.maxCqe()).isEqualTo(1 << 13);
      assertThat(device.maxSge()).isEqualTo(16);
      // a descriptor of 512 bytes, less next unit, remote address unit and inline header
      assertThat(device.maxInline()).isEqualTo(476);
    }
  }
}
