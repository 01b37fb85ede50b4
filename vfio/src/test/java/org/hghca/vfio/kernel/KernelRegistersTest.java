package org.hghca.vfio.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.direct.GuardedRegister;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The registers of a function of the kernel's VFIO: mapped, or read and written by calls. */
class KernelRegistersTest extends KernelFunctionFixture {
  @Test
  void registersAreMappedMemory() {
    try (PciFunction function = open("")) {
      MmioRegion doorbells = function.region(2);

      assertThat(doorbells.isMapped()).isTrue();
      assertThat(doorbells.size()).isEqualTo(8 << 20);
      vfio.calls.clear();
      doorbells.writeLong(0x1000, 0x1122_3344_5566_7788L);
      card.register(2, 0x2000, 0x99aa_bbcc);

      assertThat(doorbells.readInt(0x2000)).isEqualTo(0x99aa_bbcc);
      assertThat(card.register(2, 0x1000)).isEqualTo(0x1122_3344_5566_7788L);
      assertThat(vfio.calls).isEmpty();
      assertThat(function.region(2)).isSameAs(doorbells);
    }
  }

  @Test
  void missingBarIsRefused() {
    try (PciFunction function = open("")) {
      for (int bar : new int[] {-1, 1, 6, 7}) {
        assertThatThrownBy(() -> function.region(bar)).hasMessageContaining("has no BAR" + bar);
      }
    }
  }

  @Test
  void registersThatCannotBeMappedAreReadAndWrittenByCalls() {
    card.regionFlags[0] = 3;

    try (PciFunction function = open("")) {
      MmioRegion registers = function.region(0);
      assertThat(registers.isMapped()).isFalse();
      vfio.calls.clear();
      registers.writeLong(8, 0x1122_3344_5566_7788L);
      registers.writeInt(16, 0x99aa_bbcc);

      assertThat(card.register(0, 8)).isEqualTo(0x1122_3344_5566_7788L);
      assertThat(registers.readInt(8)).isEqualTo(0x5566_7788);
      assertThat(registers.readLong(16)).isEqualTo(0x99aa_bbccL);
      assertThat(vfio.calls)
          .containsExactly("pwrite Device", "pwrite Device", "pread Device", "pread Device");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void narrowRegistersAreMappedMemoryOrReadAndWrittenByOneCallEach(boolean mapped) {
    if (mapped) {
      card.sparse[0] = new long[] {0x1000, 0xf_f000};
    } else {
      card.regionFlags[0] = 3;
    }
    card.register(0, 0x1000, 0x1122_3344_5566_7788L);

    try (PciFunction function = open("")) {
      MmioRegion registers = function.region(0);
      vfio.calls.clear();
      registers.writeByte(0x1001, 0xff);
      registers.writeShort(0x1004, 0xfffe);

      assertThat(registers.readByte(0x1001)).isEqualTo(0xff);
      assertThat(registers.readShort(0x1004)).isEqualTo(0xfffe);
      assertThat(card.register(0, 0x1000)).isEqualTo(0x1122_fffe_5566_ff88L);
      String[] calls = {"pwrite Device", "pwrite Device", "pread Device", "pread Device"};
      assertThat(vfio.calls).containsExactly(mapped ? new String[0] : calls);
    }
  }

  @Test
  void registersThatTheKernelFailsToMapAreReadAndWrittenByCalls() {
    card.sparse[0] = new long[] {0x1000, 0x1000};
    card.regionFlags[0] = 3 | 4;
    vfio.refusedMaps = true;

    try (PciFunction function = open("")) {
      function.region(0).writeInt(0x1000, 5);
      assertThat(card.register(0, 0x1000)).isEqualTo(5);
    }
  }

  @Test
  void mappablePartsOfRegistersAreMapped() {
    card.sparse[2] = new long[] {0, 0x10_0000, 0x20_0000, 0x1000};

    try (PciFunction function = open("")) {
      MmioRegion doorbells = function.region(2);
      assertThat(doorbells.isMapped()).isTrue();
      assertThat(doorbells.size()).isEqualTo(8 << 20);
      vfio.calls.clear();
      doorbells.writeLong(0xf_fff8, 1);
      doorbells.writeLong(0x20_0ff8, 2);
      assertThat(vfio.calls).isEmpty();
      doorbells.writeLong(0x10_0000, 3);
      doorbells.writeInt(0x20_1000, 4);
      assertThat(vfio.calls).containsExactly("pwrite Device", "pwrite Device");

      assertThat(card.register(2, 0xf_fff8)).isEqualTo(1);
      assertThat(card.register(2, 0x20_0ff8)).isEqualTo(2);
      assertThat(card.register(2, 0x10_0000)).isEqualTo(3);
      assertThat(card.register(2, 0x20_1000)).isEqualTo(4);
      assertThat(doorbells.readLong(0x20_0ff8)).isEqualTo(2);
      assertThat(doorbells.readInt(0x10_0000)).isEqualTo(3);
      assertThatThrownBy(() -> doorbells.readInt(8 << 20))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> doorbells.readLong(0x10_0004))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void registersWithAnUnmappedStartAreReachedEitherWay() {
    card.sparse[0] = new long[] {0x1000, 0xf_f000};

    try (PciFunction function = open("")) {
      MmioRegion registers = function.region(0);
      assertThat(registers.isMapped()).isFalse();
      vfio.calls.clear();
      registers.writeInt(0x1000, 7);
      assertThat(registers.readInt(0x1000)).isEqualTo(7);
      assertThat(vfio.calls).isEmpty();
      registers.writeInt(0xff8, 8);
      assertThat(registers.readInt(0xff8)).isEqualTo(8);
      assertThat(vfio.calls).containsExactly("pwrite Device", "pread Device");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"6.1.0-42-amd64", "6.11.4", "6.12.9-amd64", "6.12-rc1", "6.13.7-arch1", "strange"})
  void kernelThatSplitsEightByteAccessesGetsNone(String release) {
    machine.text("/proc/sys/kernel/osrelease", release + "\n");
    card.regionFlags[2] = 3;

    try (PciFunction function = open("")) {
      MmioRegion doorbells = function.region(2);
      doorbells.writeInt(0, 1);
      assertThatThrownBy(() -> doorbells.writeLong(0, 0x2_0000_0002L))
          .isInstanceOf(VfioException.class)
          .hasMessageContainingAll("BAR2", release, "two of 4", "6.14", "6.12.16");
      assertThat(card.register(2, 0)).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"6.12.16", "6.12.41+deb13-amd64", "6.14.0-29-generic", "6.18.44", "7.0"})
  void kernelWithAtomicEightByteAccessesGetsThem(String release) {
    machine.text("/proc/sys/kernel/osrelease", release + "\n");
    card.regionFlags[2] = 3;

    try (PciFunction function = open("")) {
      function.region(2).writeLong(0, 0x2_0000_0002L);
      assertThat(card.register(2, 0)).isEqualTo(0x2_0000_0002L);
    }
  }

  @Test
  void registersAreUnmappedBeforeTheFunctionIsReleased() {
    machine.text("/proc/sys/kernel/osrelease", "6.1.0-42-amd64\n");
    card.regionFlags[0] = 3;
    try (DeviceFile device = new DeviceFile(vfio.system, vfio.openDevice(card, false))) {
      Bars bars =
          new Bars(vfio.system, device, Locator.parse("pci:" + CARD), KernelRelease.of(machine));
      List<MmioRegion> regions = List.of(bars.region(0), bars.region(2));
      bars.close();
      vfio.calls.clear();

      for (MmioRegion region : regions) {
        region.writeLong(0, 1);
        assertThat(region.readLong(0)).isEqualTo(-1);
        assertThat(region.readInt(0)).isEqualTo(-1);
        assertThat(region.readShort(0)).isEqualTo(0xffff);
        assertThat(region.readByte(0)).isEqualTo(0xff);
      }
      assertThat(vfio.calls).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void doorbellThatIsOnItsWayToALostFunctionFindsMemory(boolean isRefused) {
    try (DeviceFile device = new DeviceFile(vfio.system, vfio.openDevice(card, false))) {
      Bars bars =
          new Bars(vfio.system, device, Locator.parse("pci:" + CARD), KernelRelease.of(machine));
      MmioRegion doorbells = bars.region(2);
      long doorbell = doorbells.address(0xff8);
      GuardedRegister.writeLong(doorbell, 1);
      assertThat(card.register(2, 0xff8)).isEqualTo(1);
      vfio.calls.clear();
      if (isRefused) {
        vfio.fail(0, 12); // ENOMEM
      }

      bars.lose();
      GuardedRegister.writeLong(doorbell, 2);

      assertThat(vfio.calls).containsExactly(isRefused ? "mmapInPlace failed" : "mmapInPlace");
      assertThat(card.register(2, 0xff8)).isEqualTo(isRefused ? 2 : 1);
      assertThat(doorbells.readLong(0xff8)).isEqualTo(-1);
      doorbells.writeLong(0xff8, 3);
      assertThat(card.register(2, 0xff8)).isEqualTo(isRefused ? 2 : 1);
      bars.close();
      bars.close();
      assertThat(vfio.calls).hasSize(2).endsWith("munmap");
    }
    assertThat(vfio.leaks()).isEmpty();
  }

  @Test
  void registersHaveAddressesWhereTheyAreMapped() {
    card.sparse[2] = new long[] {0, 0x1000};
    card.regionFlags[0] = 3;

    try (PciFunction function = open("")) {
      MmioRegion doorbells = function.region(2);
      assertThat(doorbells.address(0xff8)).isNotZero();
      assertThat(doorbells.address(0x1000)).isZero();
      assertThat(function.region(0).address(0)).isZero();
    }
  }

  @Test
  void registersReadAllOnesAfterTheClose() {
    MmioRegion mapped;
    MmioRegion called;
    card.regionFlags[0] = 3;
    try (PciFunction function = open("")) {
      mapped = function.region(2);
      called = function.region(0);
    }

    for (MmioRegion region : List.of(mapped, called)) {
      assertThat(region.readInt(0)).isEqualTo(-1);
      assertThat(region.readLong(8)).isEqualTo(-1);
      region.writeInt(0, 1);
      region.writeLong(8, 1);
    }
    assertThat(card.register(2, 0)).isZero();
    assertThat(card.register(0, 0)).isZero();
  }
}
