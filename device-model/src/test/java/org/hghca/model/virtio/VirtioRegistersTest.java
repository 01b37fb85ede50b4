package org.hghca.model.virtio;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.vfio.ConfigurationSpace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Configuration space, device status, features and the set-up of queues, register by register. */
class VirtioRegistersTest {
  private final GuestDriver driver =
      new GuestDriver("virtio:n?mode=inline&mac=02:11:22:33:44:55&mtu=4000&roce=none");

  @AfterEach
  void close() {
    driver.close();
  }

  @Test
  void theFunctionIsAModernNetworkDevice() {
    ConfigurationSpace space = driver.function.configuration();

    assertThat(space.read(0, 4)).isEqualTo(0x1041_1af4);
    assertThat(space.read(8, 4)).isEqualTo(0x0200_0001);
    assertThat(space.read(0x2c, 4)).isEqualTo(0x0040_1af4);
  }

  /** Type, BAR, offset, length of each; the vendor's capabilities begin at 8Ch. */
  @ParameterizedTest
  @CsvSource({
    "0x8c, 1, 0, 60",
    "0x9c, 3, 0x1000, 1",
    "0xac, 4, 0x2000, 24",
    "0xbc, 2, 0x3000, 12",
    "0xd0, 5, 0, 0"
  })
  void aCapabilityTellsWhereEachPartIs(int at, int type, int offset, int length) {
    ConfigurationSpace space = driver.function.configuration();

    assertThat(space.read(at, 1)).isEqualTo(9);
    assertThat(space.read(at + 3, 1)).isEqualTo(type);
    assertThat(space.read(at + 4, 1)).isZero();
    assertThat(space.read(at + 8, 4)).isEqualTo(offset);
    assertThat(space.read(at + 12, 4)).isEqualTo(length);
    if (type == 2) {
      assertThat(space.read(at + 2, 1)).isEqualTo(20);
      assertThat(space.read(at + 16, 4)).isEqualTo(4);
    }
  }

  @Test
  void theWindowReachesTheStatus() {
    ConfigurationSpace space = driver.function.configuration();
    space.write(0xd4, 1, 0);
    space.write(0xd8, 4, 20);
    space.write(0xdc, 4, 1);
    space.write(0xe0, 4, 3);

    assertThat(driver.status()).isEqualTo(3);
    assertThat(space.read(0xe0, 4)).isEqualTo(3);
    space.write(0xe0, 4, 0);
    assertThat(driver.status()).isZero();
  }

  @Test
  void exactlyTheseFeaturesAreOffered() {
    assertThat(driver.features()).isEqualTo(0x0000_0103_3087_0028L);
    driver.registers.writeInt(0, 2);
    assertThat(driver.registers.readInt(4)).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "0x10330870028, 11",
    "0x300000000, 11",
    "0x100000000, 3", // without ACCESS_PLATFORM
    "0x200000000, 3", // without VERSION_1
    "0x300000001, 3", // an offload that was not offered
    "0x80000300000000, 3", // RoCE was not offered
    "0x300040000, 3" // CTRL_RX without CTRL_VQ
  })
  void featuresAreAcceptedOrRefused(long features, int status) {
    assertThat(driver.negotiate(features)).isEqualTo(status);
    assertThat(driver.card().faults()).hasSize(status == 3 ? 1 : 0);
  }

  @Test
  void featuresAreFixedOnceAccepted() {
    driver.negotiate(GuestDriver.ALL);
    driver.registers.writeInt(12, 0);
    assertThat(driver.registers.readInt(12)).isEqualTo((int) (GuestDriver.ALL >>> 32));
  }

  @Test
  void statusBitsStayUntilReset() {
    driver.status(1);
    driver.status(2);
    assertThat(driver.status()).isEqualTo(3);
    driver.status(7); // DRIVER_OK needs FEATURES_OK
    assertThat(driver.status()).isEqualTo(3);
    driver.status(64 | 128); // NEEDS_RESET is the card's
    assertThat(driver.status()).isEqualTo(131);
    driver.status(0);
    assertThat(driver.status()).isZero();
  }

  @Test
  void queuesAreSetUpOneByOne() {
    assertThat(driver.registers.readShort(18)).isEqualTo(3);
    driver.negotiate(GuestDriver.ALL);
    driver.control.select();
    assertThat(driver.registers.readShort(24)).isEqualTo(64);
    assertThat(driver.registers.readShort(30)).isEqualTo(2);
    driver.registers.writeShort(24, 48);
    assertThat(driver.registers.readShort(24)).isEqualTo(64);
    driver.registers.writeShort(24, 128);
    assertThat(driver.registers.readShort(24)).isEqualTo(64);
    driver.control.enable();
    assertThat(driver.registers.readShort(28)).isEqualTo(1);
    assertThat(driver.registers.readShort(24)).isEqualTo(16);
    assertThat(driver.registers.readInt(32)).isEqualTo((int) driver.control.memory.iova(0));
    driver.registers.writeShort(24, 8); // fixed while it is enabled
    driver.registers.writeInt(32, 0);
    assertThat(driver.registers.readShort(24)).isEqualTo(16);
    assertThat(driver.registers.readInt(32)).isEqualTo((int) driver.control.memory.iova(0));
    driver.receive.select();
    assertThat(driver.registers.readShort(28)).isZero();
    driver.registers.writeShort(22, 3);
    assertThat(driver.registers.readShort(24)).isZero();
  }

  @Test
  void aRingThatIsNotAlignedIsNotEnabled() {
    driver.negotiate(GuestDriver.ALL);
    driver.receive.place();
    driver.receive.address(32, driver.receive.memory.iova(0) + 8);
    driver.registers.writeShort(28, 1);

    assertThat(driver.registers.readShort(28)).isZero();
    assertThat(driver.card().faults()).containsExactly("a ring of queue 0 is not aligned");
  }

  @Test
  void aVectorThatDoesNotExistIsNone() {
    driver.registers.writeShort(16, 3);
    assertThat(driver.registers.readShort(16)).isEqualTo(3);
    driver.registers.writeShort(16, 4);
    assertThat(driver.registers.readShort(16)).isEqualTo(0xffff);
    driver.registers.writeShort(26, 4);
    assertThat(driver.registers.readShort(26)).isEqualTo(0xffff);
    driver.registers.writeShort(26, 0);
    assertThat(driver.registers.readShort(26)).isZero();
  }

  @Test
  void accessesOfAnotherWidthHaveNoEffect() {
    driver.registers.writeInt(20, 0x0000_0003); // would be status, generation and queue_select
    assertThat(driver.status()).isZero();
    assertThat(driver.registers.readInt(20)).isZero();
  }

  @Test
  void theConfigurationHasAddressLinkAndMtu() {
    assertThat(driver.registers.readInt(GuestDriver.DEVICE)).isEqualTo(0x3322_1102);
    assertThat(driver.registers.readShort(GuestDriver.DEVICE + 4)).isEqualTo(0x5544);
    assertThat(driver.registers.readShort(GuestDriver.DEVICE + 6)).isZero();
    assertThat(driver.registers.readShort(GuestDriver.DEVICE + 8)).isEqualTo(1);
    assertThat(driver.registers.readShort(GuestDriver.DEVICE + 10)).isEqualTo(4000);
    assertThat(driver.registers.readInt(GuestDriver.DEVICE + 24)).isZero();
  }

  @Test
  void aResetQueueMayBeSetUpAgain() {
    driver.start(GuestDriver.ALL);
    driver.transmit.select();
    driver.registers.writeShort(58, 1);

    assertThat(driver.registers.readShort(58)).isZero();
    assertThat(driver.registers.readShort(28)).isZero();
    assertThat(driver.registers.readShort(24)).isEqualTo(256);
    driver.transmit.enable();
    driver.send("ff".repeat(60));
    assertThat(driver.transmit.used()).hasSize(1);
  }

  @Test
  void aResetForgetsEverything() {
    driver.start(GuestDriver.ALL);
    driver.status(0);

    driver.transmit.select();
    assertThat(driver.registers.readShort(28)).isZero();
    assertThat(driver.registers.readShort(26)).isEqualTo(0xffff);
    assertThat(driver.registers.readInt(12)).isZero();
    driver.send("ff".repeat(60));
    assertThat(driver.transmit.used()).isEmpty();
  }
}
