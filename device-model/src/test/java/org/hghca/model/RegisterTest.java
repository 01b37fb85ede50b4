package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.hghca.abi.Bar;
import org.hghca.abi.HcrCommand;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.VfioException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RegisterTest {
  private static final long HCR = 0x80000;
  private static final int COMMAND = 0x18;

  private final Host host = Host.open("model:registers?mode=inline");
  private final ConfigurationSpace configuration = host.function.configuration();

  @AfterEach
  void close() {
    host.close();
  }

  @Test
  void barsHaveTheirSizes() {
    assertThat(host.bar0.size()).isEqualTo(1 << 20);
    assertThat(host.bar2.size()).isEqualTo(8 << 20);
  }

  @Test
  void hcrDwordsKeepWrittenValuesAndTheTokenItsHighHalf() {
    for (int i = 0; i < 6; i++) {
      host.bar0.writeInt(HCR + 4L * i, 0x0102_0304 * (i + 1));
    }
    for (int i = 0; i < 5; i++) {
      assertThat(host.bar0.readInt(HCR + 4L * i)).isEqualTo(0x0102_0304 * (i + 1));
    }
    assertThat(host.bar0.readInt(HCR + 0x14)).isEqualTo(0x060c_0000);
  }

  @Test
  void wideStoreIsIgnoredAndWideLoadReadsOneDword() {
    host.bar0.writeInt(HCR, 0x1111_1111);
    host.bar0.writeInt(HCR + 4, 0x2222_2222);
    host.bar0.writeLong(HCR, 0x3333_3333_4444_4444L);
    assertThat(host.bar0.readLong(HCR)).isEqualTo(0x1111_1111L);
    assertThat(host.bar0.readInt(HCR + 4)).isEqualTo(0x2222_2222);
  }

  @Test
  void statusAndGoChangeTogetherAndTheRestIsKept() {
    host.bar0.writeInt(HCR + 0x0c, 0x1234);
    host.bar0.writeInt(HCR + 0x10, 0x5678);
    // CONF_SPECIAL_QP with E set and op_modifier 5.
    host.bar0.writeInt(HCR + COMMAND, 1 << 23 | 1 << 22 | 5 << 12 | 0x023);
    assertThat(host.bar0.readInt(HCR + COMMAND)).isEqualTo(0x0240_5023);
    assertThat(host.bar0.readInt(HCR + 0x0c)).isZero();
    assertThat(host.bar0.readInt(HCR + 0x10)).isZero();
  }

  @Test
  void statusBitsWrittenBySoftwareAreKept() {
    host.bar0.writeInt(HCR + COMMAND, 0xff00_0003);
    assertThat(host.bar0.readInt(HCR + COMMAND)).isEqualTo(0xff00_0003);
  }

  @Test
  void otherRegistersReadZero() {
    assertThat(host.bar0.readInt(0)).isZero();
    assertThat(host.bar0.readInt(HCR + 0x1c)).isZero();
    assertThat(host.bar0.readInt(Bar.RESET_DOCUMENT)).isZero();
    assertThat(host.bar2.readLong(0)).isZero();
  }

  @Test
  void resetRegisterResetsWhenBitZeroIsWritten() {
    host.bringUp();
    host.bar0.writeInt(Bar.RESET_DOCUMENT, 0);
    assertThat(host.command(HcrCommand.QUERY_QP, 0, 2)).isZero();
    host.bar0.writeInt(Bar.RESET_DOCUMENT, 1);
    assertThat(host.command(HcrCommand.QUERY_QP, 0, 2)).isEqualTo(3);
    assertThat(host.hca().icmPages()).isZero();
  }

  @Test
  void invalidStoresAreDroppedAndRecorded() {
    host.bar2.writeInt(0x10, 0x0200_0001);
    host.bar2.writeInt(0x20, 1);
    host.bar2.writeLong(0x20, 1);
    host.bar2.writeLong(8, 1);
    assertThat(host.hca().faults())
        .containsExactly(
            "CQ 1 is armed, but there is no such CQ",
            "EQ 1 is armed, but there is no such EQ",
            "a store of 8 bytes to offset 0x20 of a UAR page is dropped",
            "a store of 8 bytes to offset 0x8 of a UAR page is dropped");
  }

  @Test
  void configurationSpaceIdentifiesTheCard() {
    assertThat(configuration.vendorId()).isEqualTo(0x1234);
    assertThat(configuration.deviceId()).isEqualTo(0x4843);
    assertThat(configuration.read(0x08, 4) >>> 8).isEqualTo(0x02_0700);
    assertThat(configuration.read(0x0e, 1)).isZero();
    configuration.write(0x00, 4, -1);
    assertThat(configuration.vendorId()).isEqualTo(0x1234);
  }

  @Test
  void barSizesAreFoundByWritingOnes() {
    configuration.write(0x10, 4, -1);
    configuration.write(0x14, 4, -1);
    configuration.write(0x18, 4, -1);
    assertThat(configuration.read(0x10, 4)).isEqualTo(-(1 << 20) | 4);
    assertThat(configuration.read(0x14, 4)).isEqualTo(-1);
    assertThat(configuration.read(0x18, 4)).isEqualTo(-(8 << 20) | 4);
    assertThat(configuration.read(0x24, 4)).isZero();
  }

  @Test
  void pciExpressCapabilityOffersAndStartsAReset() {
    int at = configuration.read(0x34, 1);
    assertThat(configuration.read(at, 1)).isEqualTo(0x10);
    assertThat(configuration.read(at + 4, 4) >>> 28 & 1).isEqualTo(1);
    host.bringUp();
    configuration.write(at + 8, 2, 1 << 15);
    assertThat(host.hca().icmPages()).isZero();
    assertThat(configuration.read(4, 2) & 4).isZero();
    try (Host fixed = Host.open("model:fixed?mode=inline&reset=none")) {
      assertThat(fixed.function.canReset()).isFalse();
      assertThat(fixed.function.configuration().read(at + 4, 4) >>> 28 & 1).isZero();
    }
  }

  @Test
  void msixCapabilityReportsVectorsAndTheirTable() {
    int express = configuration.read(0x34, 1);
    // Version 2 takes 3Ch bytes, after which the next capability may follow.
    int at = configuration.read(express + 1, 1);
    assertThat(at).isGreaterThanOrEqualTo(express + 0x3c);
    assertThat(at % 4).isZero();
    assertThat(configuration.read(at, 1)).isEqualTo(0x11);
    assertThat(configuration.read(at + 1, 1)).isZero();
    int vectors = host.function.interrupts().vectors();
    assertThat(vectors).isPositive();
    assertThat(configuration.read(at + 2, 2)).isEqualTo(vectors - 1);
    // Bits 2..0 are the BAR, the others the offset in it.
    int table = configuration.read(at + 4, 4);
    int pending = configuration.read(at + 8, 4);
    assertThat(table & 7).isEqualTo(4);
    assertThat(pending & 7).isEqualTo(4);
    assertThat(pending & ~7).isGreaterThanOrEqualTo((table & ~7) + 16 * vectors);
    MmioRegion region = host.function.region(4);
    assertThat(region.size()).isGreaterThanOrEqualTo((pending & ~7) + 8);

    configuration.write(at + 2, 2, 0xffff);
    assertThat(configuration.read(at + 2, 2)).isEqualTo(0xc000 | vectors - 1);
    long entry = (table & ~7) + 16L * (vectors - 1);
    assertThat(region.readInt(entry + 12)).isEqualTo(1); // masked
    region.writeLong(entry, 0x1122_3344_5566_7788L);
    region.writeInt(entry + 12, 0);
    assertThat(region.readInt(entry + 4)).isEqualTo(0x1122_3344);
    region.writeInt(pending & ~7, -1);
    assertThat(region.readInt(pending & ~7)).isZero();

    host.function.reset();
    assertThat(configuration.read(at + 2, 2)).isEqualTo(vectors - 1);
    assertThat(region.readInt(entry + 12)).isEqualTo(1);
    assertThat(region.readLong(entry)).isZero();
  }

  @Test
  void serialNumberContainsTheMac() {
    try (Host named = Host.open("model:named?mode=inline&mac=02:1a:bc:de:0f:01")) {
      ConfigurationSpace space = named.function.configuration();
      assertThat(space.read(0x100, 4)).isEqualTo(0x0001_0003);
      assertThat(space.read(0x104, 4)).isEqualTo(0xffde_0f01);
      assertThat(space.read(0x108, 4)).isEqualTo(0x021a_bcff);
      assertThat(LinkAddress.of(named.function).mac()).isEqualTo(0x021a_bcde_0f01L);
      named.function.reset();
      assertThat(space.read(0x104, 4)).isEqualTo(0xffde_0f01);
    }
  }

  @Test
  void withoutInterruptsThereIsNoMsix() {
    try (Host silent = Host.open("model:silent?mode=inline&interrupts=none")) {
      ConfigurationSpace space = silent.function.configuration();
      assertThat(space.read(space.read(0x34, 1) + 1, 1)).isZero();
      assertThat(space.read(0x20, 4)).isZero();
      assertThatThrownBy(() -> silent.function.region(4)).isInstanceOf(VfioException.class);
    }
  }
}
