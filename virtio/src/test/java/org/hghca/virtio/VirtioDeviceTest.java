package org.hghca.virtio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.ForwardingFunction;
import org.hghca.vfio.ForwardingMapping;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.inprocess.InProcessFunction;
import org.hghca.virtio.VirtioException.Reason;
import org.hghca.virtio.abi.Bytes;
import org.hghca.virtio.abi.Field;
import org.junit.jupiter.api.Test;

/** From the reset of a device to its start, and what it may refuse or break. */
class VirtioDeviceTest extends FakeDeviceFixture {
  private static final long VERSION_1 = 1L << 32;
  private static final long ACCESS_PLATFORM = 1L << 33;
  private static final long CTRL_VQ = 1L << 17;
  private static final long MAC = 1L << 5;

  @Test
  void idsTellADevice() {
    assertThat(VirtioDevice.isDevice(function.configuration(), 1)).isTrue();
    assertThat(VirtioDevice.isDevice(function.configuration(), 2)).isFalse();
    fake.space().put(8, (byte) 0);
    assertThat(VirtioDevice.isDevice(function.configuration(), 1)).isFalse();
    fake.space().put(8, (byte) 1).putShort(0, (short) 0x8086);
    assertThat(VirtioDevice.isDevice(function.configuration(), 1)).isFalse();
  }

  @Test
  void otherFunctionIsLeftAlone() {
    fake.space().putShort(2, (short) 0x1000);
    assertFailure(Reason.OTHER_DEVICE, this::attach)
        .withMessageContainingAll("1af4:1000", "1af4:1041", "disable-legacy=on");
    assertThat(fake.status).isEqualTo(0x0f);
    assertThat(fake.isBusMaster()).isFalse();
  }

  @Test
  void attachResetsAndAnnouncesTheDriver() {
    VirtioDevice device = attach();
    assertThat(fake.status).isEqualTo(3);
    assertThat(fake.isBusMaster()).isTrue();
    assertThat(device.offered()).isEqualTo(VERSION_1 | ACCESS_PLATFORM);
    assertThat(device.queues()).isEqualTo(4);
    assertThat(device).hasToString("fake:virtio");
  }

  @Test
  void featuresOfBothWordsAreNegotiated() {
    fake.features |= CTRL_VQ | MAC | 1L << 55 | 1L << 60;
    VirtioDevice device = attach();
    long all = device.negotiate(CTRL_VQ, 1L << 55 | 1L << 3);
    assertThat(all).isEqualTo(VERSION_1 | ACCESS_PLATFORM | CTRL_VQ | 1L << 55);
    assertThat(fake.accepted).isEqualTo(all);
    assertThat(fake.status).isEqualTo(11);
    assertThat(device.has(17)).isTrue();
    assertThat(device.has(5)).isFalse();
    device.start();
    assertThat(fake.status).isEqualTo(15);
  }

  @Test
  void featuresOfTheTransportAreAcceptedIfTheyAreKnown() {
    fake.features |= -1L >>> 1;
    VirtioDevice device = attach();
    assertThat(device.negotiate(0, 0))
        .isEqualTo(VERSION_1 | ACCESS_PLATFORM | 1L << 29 | 1L << 36 | 1L << 40);
    assertThatThrownBy(() -> attach().negotiate(0, 1L << 34))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> device.negotiate(0, 0)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void deviceOlderThanVersion1IsRefused() {
    fake.features = ACCESS_PLATFORM | CTRL_VQ;
    VirtioDevice device = attach();
    assertFailure(Reason.UNSUPPORTED, () -> device.negotiate(CTRL_VQ, 0))
        .withMessageContainingAll("VIRTIO_F_VERSION_1", "disable-legacy=on");
    assertThat(fake.status).isEqualTo(0x83);
    assertThat(fake.accepted).isZero();
  }

  @Test
  void deviceThatBypassesTheIommuIsRefused() {
    fake.features = VERSION_1;
    VirtioDevice device = attach();
    assertFailure(Reason.UNSUPPORTED, () -> device.negotiate(0, 0))
        .withMessageContainingAll("VIRTIO_F_ACCESS_PLATFORM", "iommu_platform=on");
    assertThat(fake.status).isEqualTo(0x83);
  }

  @Test
  void missingFeatureOfTheTypeIsNamed() {
    VirtioDevice device = attach();
    assertFailure(Reason.UNSUPPORTED, () -> device.negotiate(CTRL_VQ | 1L << 55, 0))
        .withMessageContainingAll("VIRTIO_NET_F_CTRL_VQ, VIRTIO_NET_F_GUEST_USO6", "0x300000000");
  }

  @Test
  void deviceMayRefuseTheFeatures() {
    fake.refusesFeatures = true;
    VirtioDevice device = attach();
    assertFailure(Reason.UNSUPPORTED, () -> device.negotiate(0, 0))
        .withMessageContainingAll(
            "refuses", "VIRTIO_F_VERSION_1, VIRTIO_F_ACCESS_PLATFORM", "ACKNOWLEDGE|DRIVER");
    assertThat(fake.status & 0x80).isEqualTo(0x80);
  }

  @Test
  void resetIsWaitedForAndBounded() {
    fake.hangsInReset = true;
    assertFailure(Reason.TIMED_OUT, this::attach).withMessageContainingAll("PT2S", "FEATURES_OK");
    assertThat(fake.isBusMaster()).isFalse();
  }

  @Test
  void deviceThatDoesNotAnswerFailsAtOnce() {
    fake.gone = true;
    assertFailure(Reason.FAILED, this::attach).withMessageContaining("does not answer");
  }

  @Test
  void deviceThatNeedsAResetIsNoticed() {
    VirtioDevice device = negotiated();
    device.check();
    fake.status |= 64;
    assertFailure(Reason.FAILED, device::check).withMessageContaining("NEEDS_RESET");
    assertFailure(Reason.FAILED, device::start).withMessageContaining("NEEDS_RESET");
    fake.gone = true;
    assertFailure(Reason.FAILED, device::check).withMessageContaining("does not answer");
  }

  @Test
  void queueIsSetUpWithItsSizeVectorAndAddresses() {
    VirtioDevice device = negotiated();
    Virtqueue queue = device.queue(1, 128, 3);
    FakeDevice.Queue seen = fake.queues[1];
    assertThat(queue.index()).isEqualTo(1);
    assertThat(queue.size()).isEqualTo(128);
    assertThat(seen.size).isEqualTo(128);
    assertThat(seen.vector).isEqualTo(3);
    assertThat(seen.enabled).isEqualTo(1);
    assertThat(seen.descriptors % 16).isZero();
    assertThat(seen.available % 2).isZero();
    assertThat(seen.used % 4).isZero();
    // 128 descriptors, then 2 + 2 + 128 * 2 + 2 bytes, then 2 + 2 + 128 * 8 + 2 bytes.
    assertThat(seen.available).isGreaterThanOrEqualTo(seen.descriptors + 2048);
    assertThat(seen.used).isGreaterThanOrEqualTo(seen.available + 262);
    assertThat(fake.memory(seen.used, 1030)).containsOnly(0);
    assertThat(fake.queues[0].enabled).isZero();
  }

  @Test
  void queueIsNoLargerThanTheDevices() {
    VirtioDevice device = negotiated();
    assertThat(device.queue(2, 1024, NO_VECTOR).size()).isEqualTo(64);
    assertThat(fake.queues[2].vector).isEqualTo(0xffff);
  }

  @Test
  void queueThatDoesNotExistIsRefused() {
    VirtioDevice device = negotiated();
    assertFailure(Reason.UNSUPPORTED, () -> device.queue(4, 16, NO_VECTOR))
        .withMessageContaining("no queue 4, but queues 0 to 3");
    assertFailure(Reason.UNSUPPORTED, () -> device.queue(3, 16, NO_VECTOR))
        .withMessageContaining("queue 3 without entries");
    assertThatThrownBy(() -> device.queue(0, 24, NO_VECTOR))
        .isInstanceOf(IllegalArgumentException.class);
    device.queue(0, 16, NO_VECTOR);
    assertThatThrownBy(() -> device.queue(0, 16, NO_VECTOR))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> attach().queue(0, 16, NO_VECTOR))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void queueOfAnImpossibleSizeIsRefused() {
    VirtioDevice device = negotiated();
    fake.queues[0].size = 100;
    assertFailure(Reason.MALFORMED, () -> device.queue(0, 16, NO_VECTOR))
        .withMessageContaining("100 entries");
    fake.queues[0].size = 65535;
    assertFailure(Reason.MALFORMED, () -> device.queue(0, 16, NO_VECTOR))
        .withMessageContaining("65535 entries");
  }

  @Test
  void queueThatStaysDisabledIsRefusedAndItsMemoryFreed() {
    VirtioDevice device = negotiated();
    fake.canEnable = false;
    int mappings = function.mappings();
    assertFailure(Reason.MALFORMED, () -> device.queue(0, 16, NO_VECTOR))
        .withMessageContaining("does not enable queue 0");
    assertThat(function.mappings()).isEqualTo(mappings);
  }

  @Test
  void vectorIsReadBack() {
    VirtioDevice device = negotiated();
    device.configurationVector(0);
    assertThat(fake.configVector).isZero();
    fake.vectorsLeft = 0;
    assertFailure(Reason.UNSUPPORTED, () -> device.queue(0, 16, 1))
        .withMessageContaining("no room to map vector 1 to queue 0");
    assertFailure(Reason.UNSUPPORTED, () -> device.configurationVector(2))
        .withMessageContaining("vector 2 to the configuration");
    assertFailure(Reason.UNSUPPORTED, () -> device.queue(0, 16, 4))
        .withMessageContaining("4 interrupt vectors, and no vector 4");
    fake.vectorsLeft = 1;
    assertThat(device.queue(0, 256, 1).size()).as("size after a refusal").isEqualTo(256);
  }

  @Test
  void notificationsAreThatFarApartAsTheDeviceSays() {
    fake.queues[2].notifyOffset = 0x3ff;
    VirtioDevice device = negotiated();
    Virtqueue queue = device.queue(2, 16, NO_VECTOR);
    device.start();
    DmaMapping buffer = device.allocate(16);
    queue.put(buffer.iova(0), 16, false);
    queue.submit();
    assertThat(queue.kick()).isTrue();
    assertThat(fake.notified).containsExactly(2);
    fake.queues[1].notifyOffset = 0x400;
    assertFailure(Reason.MALFORMED, () -> device.queue(1, 16, NO_VECTOR))
        .withMessageContaining("notifies queue 1 at 0x1000 of 0x1000 bytes");
  }

  @Test
  void queuesMayShareOneNotification() {
    fake.space().putInt(0x90, 0);
    fake.queues[1].notifyOffset = 0xffff;
    VirtioDevice device = negotiated();
    for (int index = 0; index < 3; index++) {
      Virtqueue queue = device.queue(index, 16, NO_VECTOR);
      queue.put(device.allocate(16).iova(0), 16, false);
      queue.submit();
      assertThat(queue.kick()).isTrue();
    }
    assertThat(fake.notified).containsExactly(0, 1, 2);
  }

  @Test
  void configurationIsReadInTheWidthsOfItsFields() {
    for (int i = 0; i < 32; i++) {
      fake.configuration[i] = (byte) (0x80 + i);
    }
    VirtioDevice device = attach();
    assertThat(device.<Long>configuration(c -> c.get(Field.le16("mtu", 10)))).isEqualTo(0x8b8aL);
    assertThat(device.<Long>configuration(c -> c.get(Field.le32("speed", 12))))
        .isEqualTo(0x8f8e_8d8cL);
    assertThat(device.<Long>configuration(c -> c.get(Field.u8("duplex", 16)))).isEqualTo(0x90L);
    assertThat(device.<Long>configuration(c -> c.get(Field.le64("wide", 24))))
        .isEqualTo(0x9f9e_9d9c_9b9a_9998L);
    assertThat(device.<byte[]>configuration(c -> c.get(new Bytes("mac", 0, 6))))
        .containsExactly(0x80, 0x81, 0x82, 0x83, 0x84, 0x85);
    assertThat(device.<Long>configuration(DeviceConfiguration::size)).isEqualTo(32L);
    assertThatThrownBy(() -> device.configuration(c -> c.get(Field.le32("behind", 32))))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void configurationThatChangesIsReadAgain() {
    VirtioDevice device = attach();
    AtomicInteger readings = new AtomicInteger();
    fake.changes = 4;
    assertThat(device.<Integer>configuration(c -> readings.incrementAndGet()))
        .isEqualTo(readings.get())
        .isEqualTo(3);
    fake.changes = Integer.MAX_VALUE;
    assertFailure(Reason.MALFORMED, () -> device.configuration(c -> 0))
        .withMessageContaining("100 readings");
  }

  @Test
  void deviceWithoutConfiguration() {
    fake.capability(0x70, 0x80, 16, 77, 4, 0, 0);
    assertFailure(Reason.UNSUPPORTED, () -> attach().configuration(c -> 0))
        .withMessageContaining("no configuration");
  }

  @Test
  void interruptStatusIsClearedByReading() {
    VirtioDevice device = attach();
    fake.interruptStatus = 3;
    assertThat(device.interruptStatus()).isEqualTo(3);
    assertThat(device.interruptStatus()).isZero();
  }

  @Test
  void queueIsResetAlone() {
    fake.features |= 1L << 40;
    fake.resetReadings = 300;
    VirtioDevice device = negotiated();
    Virtqueue queue = device.queue(0, 16, 2);
    queue.put(device.allocate(16).iova(0), 16, false);
    queue.submit();
    queue.kick();
    assertThat(fake.take(0)).isZero();
    device.reset(queue, 2);
    assertThat(queue.free()).isEqualTo(16);
    assertThat(fake.queues[0].enabled).isEqualTo(1);
    assertThat(fake.queues[0].vector).isEqualTo(2);
    assertThat(fake.take(0)).isEqualTo(-1);
  }

  @Test
  void queueCannotBeResetAloneWithoutTheFeature() {
    VirtioDevice device = negotiated();
    Virtqueue queue = device.queue(0, 16, NO_VECTOR);
    assertFailure(Reason.UNSUPPORTED, () -> device.reset(queue, NO_VECTOR))
        .withMessageContaining("VIRTIO_F_RING_RESET");
  }

  @Test
  void closeResetsTheDeviceAndFreesItsMemory() {
    VirtioDevice device = negotiated();
    device.queue(0, 256, NO_VECTOR);
    device.queue(1, 256, NO_VECTOR);
    device.allocate(10_000);
    assertThat(function.mappings()).isEqualTo(3);
    device.close();
    device.close();
    assertThat(fake.status).isZero();
    assertThat(fake.isBusMaster()).isFalse();
    assertThat(function.mappings()).isZero();
    // The function is as before: the device can be attached again.
    try (VirtioDevice again = negotiated()) {
      again.queue(0, 256, NO_VECTOR);
      again.start();
      assertThat(fake.status).isEqualTo(15);
    }
  }

  @Test
  void memoryOfADeviceThatDoesNotResetStays() {
    VirtioDevice device = negotiated();
    device.queue(0, 256, NO_VECTOR);
    fake.hangsInReset = true;
    assertFailure(Reason.TIMED_OUT, device::close);
    assertThat(function.mappings()).isEqualTo(1);
    device.close();
  }

  @Test
  void queueIsSmallerWhereMemoryIsNotContiguous() {
    InProcessFunction whole = InProcessFunction.connect(Locator.parse("fake:virtio"), fake);
    PciFunction scattered =
        new ForwardingFunction(whole) {
          @Override
          public DmaMapping allocate(long bytes) {
            return new ForwardingMapping(super.allocate(bytes)) {
              @Override
              public long iova(long offset) {
                // Each page is at an address of its own.
                return super.iova(offset) + (offset >> 12 << 30);
              }
            };
          }
        };
    fake.queues[0].size = 1024;
    try (scattered) {
      VirtioDevice device = VirtioDevice.attach(scattered, NETWORK);
      fake.queues[0].size = 1024;
      device.negotiate(0, 0);
      Virtqueue queue = device.queue(0, 1024, NO_VECTOR);
      assertThat(queue.size()).isEqualTo(256);
      assertThat(fake.queues[0].size).isEqualTo(256);
      assertThat(fake.queues[0].descriptors & 4095).isZero();
      assertThat((fake.queues[0].available & 4095) + 518).isLessThanOrEqualTo(4096);
      assertThat((fake.queues[0].used & 4095) + 2054).isLessThanOrEqualTo(4096);
    }
  }
}
