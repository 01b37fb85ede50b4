package org.hghca.virtio.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.function.Consumer;
import java.util.stream.Stream;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.PortAttributes;
import org.hghca.verbs.PortState;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.Locator;
import org.hghca.vfio.inprocess.InProcessFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Which devices are driven, and what they are told first. */
class BringUpTest {
  private static final String LOCATOR = "scripted:a?ip=10.0.0.1,fd00::1";

  private final ScriptedDevice device = new ScriptedDevice();

  private RoceDevice bringUp() {
    return BringUp.of(InProcessFunction.connect(Locator.parse(LOCATOR), device));
  }

  private RoceContext open() {
    RoceDevice up = bringUp();
    return new RoceContext(new RdmaDevice("virtio0", LOCATOR, 0), up, up::close);
  }

  @Test
  void limitsAndGidsAreTheFirstCommands() {
    try (RoceContext _ = open()) {
      assertThat(device.commands)
          .containsExactly(
              "0600",
              "0601",
              "060f" + "0000000000000000" + "fe80000000000000000000fffe00000a",
              "060f" + "0100000000000000" + "00000000000000000000ffff0a000001",
              "060f" + "0200000000000000" + "fd000000000000000000000000000001");
    }
  }

  @Test
  void onlyWhatIsUsedIsNegotiated() {
    device.features |= 1L << 22 | 1L << 60 | 1L << 15;
    try (RoceContext _ = open()) {
      assertThat(device.accepted)
          .isEqualTo(1L << 55 | 3L << 32 | 1 << 17 | 1 << 16 | 1 << 5 | 1 << 3);
      assertThat(device.status).isEqualTo(0x0f);
    }
    assertThat(device.status).isZero();
  }

  private static Arguments refused(String what, Consumer<ScriptedDevice> change) {
    return Arguments.of(what, change);
  }

  static Stream<Arguments> networkDevicesWithoutRoce() {
    return Stream.of(
        refused("does not offer feature 55", d -> d.features &= ~(1L << 55)),
        refused("features 54 and 55", d -> d.features |= 1L << 54),
        refused("feature 53", d -> d.features |= 1L << 53),
        refused("no control queue", d -> d.features &= ~(1L << 17)),
        refused("4 completion queues and 0 queue pairs", d -> d.configuration.putInt(24, 0)),
        refused("16385 completion queues", d -> d.configuration.putInt(28, 16385)),
        refused(
            "4294967295 completion queues and 4294967295 queue pairs",
            d -> d.configuration.putInt(24, -1).putInt(28, -1)),
        refused("14 queues, not 15", d -> d.queueCount = 14));
  }

  @ParameterizedTest
  @MethodSource("networkDevicesWithoutRoce")
  void networkDeviceWithoutRoceGetsNoCommand(String why, Consumer<ScriptedDevice> change) {
    change.accept(device);

    assertThatThrownBy(this::bringUp)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP))
        .hasMessageContaining("scripted:a")
        .hasMessageContaining(why);
    assertThat(device.commands).isEmpty();
    assertThat(device.accepted).isZero();
    assertThat(device.status).isZero();
  }

  @Test
  void otherVirtioDeviceIsRefusedByItsIds() {
    device.writeConfiguration(2, 2, 0x1042);

    assertThatThrownBy(this::bringUp)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV))
        .hasMessageContaining("1af4:1042");
    assertThat(device.status).isEqualTo(0x0f);
  }

  @Test
  void refusedGidIsNamed() {
    device.answer(15, data -> data[2] == 2 ? null : new byte[0]);

    assertThatThrownBy(this::bringUp)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
        .hasMessageContaining("fd00:0000");
    assertThat(device.status).isZero();
  }

  @Test
  void limitsAreThoseOfTheDeviceAndTheDriver() {
    try (RoceContext context = open()) {
      DeviceAttributes attributes = context.queryDevice();

      assertThat(attributes.nodeGuid()).isEqualTo(0x0000_00ff_fe00_000aL);
      assertThat(attributes.vendorId()).isEqualTo(0x1af4);
      assertThat(attributes.vendorPartId()).isEqualTo(0x1041);
      assertThat(attributes.hardwareVersion()).isEqualTo(7);
      assertThat(attributes.maxQp()).isEqualTo(2);
      assertThat(attributes.maxQpWr()).isEqualTo(128);
      assertThat(attributes.maxSge()).isEqualTo(4);
      assertThat(attributes.maxCq()).isEqualTo(4);
      assertThat(attributes.maxCqe()).isEqualTo(64);
      assertThat(attributes.maxMrSize()).isEqualTo(Long.MAX_VALUE);
      assertThat(attributes.maxInline()).isEqualTo(512);
      assertThat(attributes.completionVectors()).isEqualTo(3);
      assertThat(attributes.maxQpReadAtomic()).isEqualTo(16);
      assertThat(attributes.maxQpInitiatorReadAtomic()).isEqualTo(8);
    }
  }

  @Test
  void limitsAreThoseOfTheVirtqueuesIfTheseAreSmaller() {
    device.answer(0, data -> ScriptedDevice.bytes(128).putInt(28, 1000).putInt(44, 1000).array());
    try (RoceContext context = open()) {
      assertThat(context.queryDevice().maxQpWr()).isEqualTo(256);
      assertThat(context.queryDevice().maxCqe()).isEqualTo(256);
    }
  }

  @Test
  void thereAreNoMoreCompletionVectorsThanCompletionQueues() {
    device.configuration.putInt(28, 2);
    try (RoceContext context = open()) {
      assertThat(context.queryDevice().maxCq()).isEqualTo(2);
      assertThat(context.queryDevice().completionVectors()).isEqualTo(2);
    }
  }

  @Test
  void portIsThatOfTheConfiguration() {
    try (RoceContext context = open()) {
      PortAttributes port = context.queryPort(1);

      assertThat(port.state()).isEqualTo(PortState.ACTIVE);
      assertThat(port.stateAssumed()).isFalse();
      assertThat(port.activeMtu()).isEqualTo(Mtu.MTU_1024);
      assertThat(port.maxMessageSize()).isEqualTo(0x80_0000);
      assertThat(port.mac()).isEqualTo(0x0200_0000_000aL);
      assertThat(context.queryGidTable()).hasSize(3);
      assertThat(context.queryGid(1, 0)).isEqualTo(Gid.ofMac(0x0200_0000_000aL));
      device.configuration.putShort(10, (short) 4180).putShort(6, (short) 0);
      assertThat(context.queryPort(1).activeMtu()).isEqualTo(Mtu.MTU_4096);
      assertThat(context.queryPort(1).state()).isEqualTo(PortState.DOWN);
    }
  }

  @Test
  void changeOfTheLinkIsAnEvent() throws InterruptedException {
    try (RoceContext context = open()) {
      device.configuration.putShort(6, (short) 0);
      device.configurationChanged();
      AsyncEvent down = context.asyncEvents().await();
      assertThat(down.type()).isEqualTo(AsyncEventType.PORT_ERR);
      device.configuration.putShort(6, (short) 1);
      device.configurationChanged();
      assertThat(context.asyncEvents().await().type()).isEqualTo(AsyncEventType.PORT_ACTIVE);
    }
  }

  @Test
  void deviceThatNeedsResetIsDead() throws InterruptedException {
    try (RoceContext context = open()) {
      device.status |= 64;
      device.configurationChanged();
      assertThat(context.asyncEvents().await().type()).isEqualTo(AsyncEventType.DEVICE_FATAL);
      assertThatThrownBy(context::allocateProtectionDomain)
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
      device.status &= ~64;
    }
  }
}
