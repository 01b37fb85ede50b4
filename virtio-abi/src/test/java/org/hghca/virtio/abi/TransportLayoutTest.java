package org.hghca.virtio.abi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * The structures of the PCI transport and of split virtqueues, byte by byte. The value of each byte
 * is its offset, and what belongs to no field is eeh.
 */
class TransportLayoutTest {
  @Test
  void capabilityInConfigurationSpace() {
    Structure structure = new Structure(20);
    structure.set(PciCapability.ID, 0x00);
    structure.set(PciCapability.NEXT, 0x01);
    structure.set(PciCapability.LENGTH_OF_CAPABILITY, 0x02);
    structure.set(PciCapability.TYPE, 0x03);
    structure.set(PciCapability.BAR, 0x04);
    structure.set(PciCapability.INSTANCE, 0x05);
    structure.set(PciCapability.OFFSET, 0x0b0a_0908L);
    structure.set(PciCapability.LENGTH, 0x0f0e_0d0cL);
    structure.set(PciCapability.NOTIFY_MULTIPLIER, 0x1312_1110L);
    assertThat(structure.hex()).isEqualTo("000102030405eeee" + "08090a0b0c0d0e0f10111213");
    assertThat(PciCapability.SIZE).isEqualTo(16);
    assertThat(PciCapability.NOTIFY_SIZE).isEqualTo(20);
    assertThat(PciCapability.VENDOR_SPECIFIC).isEqualTo(0x09);
  }

  @Test
  void typesOfCapabilities() {
    assertThat(PciCapability.COMMON).isEqualTo(1);
    assertThat(PciCapability.NOTIFY).isEqualTo(2);
    assertThat(PciCapability.INTERRUPT_STATUS).isEqualTo(3);
    assertThat(PciCapability.DEVICE).isEqualTo(4);
    assertThat(PciCapability.CONFIGURATION_ACCESS).isEqualTo(5);
    assertThat(PciCapability.SHARED_MEMORY).isEqualTo(8);
    assertThat(PciCapability.VENDOR).isEqualTo(9);
  }

  @Test
  void idsOfFunctions() {
    assertThat(PciIds.VENDOR).isEqualTo(0x1af4);
    assertThat(PciIds.NETWORK_DEVICE).isEqualTo(0x1041);
    assertThat(PciIds.NETWORK_CLASS).isEqualTo(0x02_00_00);
    assertThat(PciIds.LEAST_REVISION).isEqualTo(1);
    assertThat(PciIds.LEAST_SUBSYSTEM).isEqualTo(0x40);
  }

  @Test
  void registersCommonToAllDevices() {
    Structure structure = new Structure(64);
    structure.set(CommonConfig.DEVICE_FEATURE_SELECT, 0x0302_0100L);
    structure.set(CommonConfig.DEVICE_FEATURE, 0x0706_0504L);
    structure.set(CommonConfig.DRIVER_FEATURE_SELECT, 0x0b0a_0908L);
    structure.set(CommonConfig.DRIVER_FEATURE, 0x0f0e_0d0cL);
    structure.set(CommonConfig.CONFIG_VECTOR, 0x1110);
    structure.set(CommonConfig.NUM_QUEUES, 0x1312);
    structure.set(CommonConfig.DEVICE_STATUS, 0x14);
    structure.set(CommonConfig.CONFIG_GENERATION, 0x15);
    structure.set(CommonConfig.QUEUE_SELECT, 0x1716);
    structure.set(CommonConfig.QUEUE_SIZE, 0x1918);
    structure.set(CommonConfig.QUEUE_VECTOR, 0x1b1a);
    structure.set(CommonConfig.QUEUE_ENABLE, 0x1d1c);
    structure.set(CommonConfig.QUEUE_NOTIFY_OFF, 0x1f1e);
    structure.set(CommonConfig.QUEUE_DESC, 0x2726_2524_2322_2120L);
    structure.set(CommonConfig.QUEUE_DRIVER, 0x2f2e_2d2c_2b2a_2928L);
    structure.set(CommonConfig.QUEUE_DEVICE, 0x3736_3534_3332_3130L);
    assertThat(structure.hex().substring(112)).isEqualTo("ee".repeat(8));
    structure.set(CommonConfig.NOTIFY_DATA, 0x3938);
    structure.set(CommonConfig.QUEUE_RESET, 0x3b3a);
    structure.set(CommonConfig.ADMIN_QUEUE_INDEX, 0x3d3c);
    structure.set(CommonConfig.ADMIN_QUEUE_NUM, 0x3f3e);
    assertThat(structure.hex())
        .isEqualTo(
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
                + "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f");
    assertThat(CommonConfig.SIZE).isEqualTo(56);
    assertThat(CommonConfig.NO_VECTOR).isEqualTo(0xffff);
    assertThat(CommonConfig.LARGEST_QUEUE).isEqualTo(32768);
  }

  @Test
  void descriptor() {
    Structure structure = new Structure(16);
    structure.set(Descriptor.ADDRESS, 0x0706_0504_0302_0100L);
    structure.set(Descriptor.LENGTH, 0x0b0a_0908L);
    structure.set(Descriptor.FLAGS, 0x0d0c);
    structure.set(Descriptor.NEXT, 0x0f0e);
    assertThat(structure.hex()).isEqualTo("000102030405060708090a0b0c0d0e0f");
    assertThat(Descriptor.SIZE).isEqualTo(16);
    assertThat(Descriptor.ALIGNMENT).isEqualTo(16);
    assertThat(Descriptor.FLAG_NEXT).isEqualTo(1);
    assertThat(Descriptor.FLAG_WRITE).isEqualTo(2);
    assertThat(Descriptor.FLAG_INDIRECT).isEqualTo(4);
  }

  @Test
  void descriptorThatIsWrittenAtOnce() {
    Structure structure = new Structure(16);
    Descriptor.put(structure.memory(), Structure.BASE, 0x8706_0504_0302_0100L, 0x7b0a_0908, 0xfd0c);
    assertThat(structure.hex()).isEqualTo("000102030405068708090a7b0cfd0000");
  }

  @Test
  void availableRing() {
    Structure structure = new Structure(4);
    structure.set(AvailableRing.FLAGS, 0x0100);
    structure.set(AvailableRing.INDEX, 0x0302);
    assertThat(structure.hex()).isEqualTo("00010203");
    assertThat(AvailableRing.ALIGNMENT).isEqualTo(2);
    assertThat(AvailableRing.entry(0)).isEqualTo(4);
    assertThat(AvailableRing.entry(5)).isEqualTo(14);
    assertThat(AvailableRing.usedEvent(256)).isEqualTo(516);
    assertThat(AvailableRing.size(256)).isEqualTo(518);
    assertThat(AvailableRing.FLAG_NO_INTERRUPT).isEqualTo(1);
  }

  @Test
  void usedRing() {
    Structure structure = new Structure(4);
    structure.set(UsedRing.FLAGS, 0x0100);
    structure.set(UsedRing.INDEX, 0x0302);
    assertThat(structure.hex()).isEqualTo("00010203");
    Structure entry = new Structure(8);
    entry.set(UsedRing.ENTRY_ID, 0x0302_0100L);
    entry.set(UsedRing.ENTRY_LENGTH, 0x0706_0504L);
    assertThat(entry.hex()).isEqualTo("0001020304050607");
    assertThat(UsedRing.ALIGNMENT).isEqualTo(4);
    assertThat(UsedRing.entry(0)).isEqualTo(4);
    assertThat(UsedRing.entry(5)).isEqualTo(44);
    assertThat(UsedRing.availableEvent(256)).isEqualTo(2052);
    assertThat(UsedRing.size(256)).isEqualTo(2054);
    assertThat(UsedRing.FLAG_NO_NOTIFY).isEqualTo(1);
  }

  @Test
  void bitsOfTheDeviceStatus() {
    assertThat(DeviceStatus.ACKNOWLEDGE).isEqualTo(1);
    assertThat(DeviceStatus.DRIVER).isEqualTo(2);
    assertThat(DeviceStatus.DRIVER_OK).isEqualTo(4);
    assertThat(DeviceStatus.FEATURES_OK).isEqualTo(8);
    assertThat(DeviceStatus.NEEDS_RESET).isEqualTo(64);
    assertThat(DeviceStatus.FAILED).isEqualTo(128);
    assertThat(DeviceStatus.describe(0)).isEqualTo("0x00 (reset)");
    assertThat(DeviceStatus.describe(0x4b))
        .isEqualTo("0x4b (ACKNOWLEDGE|DRIVER|FEATURES_OK|NEEDS_RESET)");
    assertThat(DeviceStatus.describe(0xb4)).isEqualTo("0xb4 (DRIVER_OK|FAILED|0x30)");
  }

  @Test
  void bitsOfFeatures() {
    assertThat(Feature.INDIRECT_DESC).isEqualTo(28);
    assertThat(Feature.EVENT_IDX).isEqualTo(29);
    assertThat(Feature.VERSION_1).isEqualTo(32);
    assertThat(Feature.ACCESS_PLATFORM).isEqualTo(33);
    assertThat(Feature.RING_PACKED).isEqualTo(34);
    assertThat(Feature.IN_ORDER).isEqualTo(35);
    assertThat(Feature.ORDER_PLATFORM).isEqualTo(36);
    assertThat(Feature.NOTIFICATION_DATA).isEqualTo(38);
    assertThat(Feature.NOTIF_CONFIG_DATA).isEqualTo(39);
    assertThat(Feature.RING_RESET).isEqualTo(40);
    assertThat(Feature.ADMIN_VQ).isEqualTo(41);
    assertThat(Feature.mask(33)).isEqualTo(0x2_0000_0000L);
    assertThat(Feature.mask(63)).isEqualTo(0x8000_0000_0000_0000L);
    assertThat(Feature.name(33)).isEqualTo("VIRTIO_F_ACCESS_PLATFORM");
    assertThat(Feature.name(5)).isEqualTo("bit 5");
  }

  @Test
  void bitsOfTheInterruptStatus() {
    assertThat(InterruptStatus.QUEUE).isEqualTo(1);
    assertThat(InterruptStatus.CONFIGURATION).isEqualTo(2);
  }
}
