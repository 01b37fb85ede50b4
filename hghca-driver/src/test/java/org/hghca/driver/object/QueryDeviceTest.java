package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.verbs.DeviceAttributes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The software HCA answers QUERY_DEV_LIM as the makers' RTL does, but for memory keys. */
class QueryDeviceTest {

  @Test
  void reservedObjectsAreNotCounted() {
    try (DriverFixture it = new DriverFixture()) {
      DeviceAttributes device = it.context.queryDevice();
      assertThat(device.maxQp()).isEqualTo((1 << 14) - (1 << 1));
      assertThat(device.maxCq()).isEqualTo((1 << 13) - 1);
      assertThat(device.maxMr()).isEqualTo((1 << 17) - 1);
      assertThat(device.maxPd()).isEqualTo((1 << 12) - 1);
    }
  }

  /** A ring of the device's largest size for each would be 2 MiB. */
  @ParameterizedTest
  @CsvSource({"1, 8192", "8192, 8192", "8193, 16384", "65536, 65536"})
  void completionQueueThatNamesNoRingHasWhatItsEntriesNeed(int entries, int slots) {
    try (DriverFixture it = new DriverFixture();
        HghcaCompletionQueue queue =
            (HghcaCompletionQueue) it.context.createCompletionQueue(entries)) {
      assertThat(queue.entries()).isEqualTo(entries);
      assertThat(queue.memory().segment().byteSize()).isEqualTo(slots * 32L);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"r1", "r2"})
  void completionQueueOfTheMakersCardHasTheWholeRing(String profile) {
    try (DriverFixture it = new DriverFixture("&profile=" + profile)) {
      assertThat(it.context.queryDevice().maxCqe()).isEqualTo((1 << 13) - 1);
      assertThat(it.cq.memory().segment().byteSize()).isEqualTo((1 << 13) * 32L);
    }
  }

  @Test
  void queuesHoldOneRequestLessThanTheirSlots() {
    try (DriverFixture it = new DriverFixture()) {
      DeviceAttributes device = it.context.queryDevice();
      assertThat(device.maxQpWr()).isEqualTo((1 << 13) - 1);
      assertThat(device.maxCqe()).isEqualTo(1 << 16);
      assertThat(device.maxSge()).isEqualTo(16);
      // a descriptor of 512 bytes, less next unit, remote address unit and inline header
      assertThat(device.maxInline()).isEqualTo(476);
    }
  }
}
