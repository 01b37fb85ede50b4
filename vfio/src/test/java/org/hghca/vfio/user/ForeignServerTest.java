package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * The client with a server of another project: the copying device of the laboratory, PCI function
 * 1d1d:0001 with BAR0 that can be mapped, a doorbell in BAR2 and four MSI-X vectors. Run with
 * {@code -Dhghca.vfio-user=/path.sock}; prints its findings.
 */
@EnabledIfSystemProperty(named = "hghca.vfio-user", matches = ".+")
final class ForeignServerTest {
  // The doorbell: source, destination, length, and the vector, whose store starts the copy.
  private static final int SOURCE = 0;
  private static final int DESTINATION = 8;
  private static final int LENGTH = 16;
  private static final int VECTOR = 24;
  private static final int STATUS = 32;
  private static final int COPIED = 1;
  private static final int REFUSED = 2;

  private static final int BYTES = 20_000;

  @Test
  void functionMatchesItsServersDescription() {
    String socket = System.getProperty("hghca.vfio-user");
    try (PciFunction function = PciFunctions.open(Locator.parse("vfio-user:" + socket))) {
      identify(function);
      registers(function.region(0));
      Interrupts interrupts = function.interrupts();
      System.out.printf("%d interrupt vectors%n", interrupts.vectors());
      assertThat(interrupts.vectors()).isEqualTo(4);
      function.configuration().busMaster(true);
      for (int vector = 0; vector < 4; vector++) {
        copy(function, vector);
      }
      MmioRegion doorbell = function.region(2);
      long iova;
      try (DmaMapping mapping = function.allocate(BYTES)) {
        iova = mapping.iova(0);
      }
      ringDoorbell(doorbell, iova, iova, 16, 0);
      assertThat(interrupts.await(TimeUnit.SECONDS.toNanos(10))).isEqualTo(1);
      System.out.printf(
          "copy after the unmap: status %d (2: refused)%n", doorbell.readLong(STATUS));
      assertThat(doorbell.readLong(STATUS)).isEqualTo(REFUSED);
      time("read of BAR2, a message and its reply", 2000, () -> doorbell.readLong(STATUS));
      time("write of BAR2, no reply asked for", 2000, () -> doorbell.writeLong(SOURCE, 0));
      long large = 1L << 30;
      try (Arena arena = Arena.ofShared()) {
        MemorySegment memory = function.memory().allocate(arena, large);
        long start = System.nanoTime();
        DmaMapping mapping = function.map(memory, DmaAccess.READ_WRITE);
        System.out.printf("1 GiB mapped in %.1f us%n", (System.nanoTime() - start) / 1e3);
        mapping.close();
      }
      assertThat(function.canReset()).isTrue();
      function.reset();
      System.out.printf("reset%n");
    }
  }

  private static void identify(PciFunction function) {
    ConfigurationSpace configuration = function.configuration();
    System.out.printf(
        "%s is %04x:%04x, class %06x%n",
        function.locator(),
        configuration.vendorId(),
        configuration.deviceId(),
        configuration.classCode());
    assertThat(configuration.vendorId()).isEqualTo(0x1d1d);
    assertThat(configuration.deviceId()).isEqualTo(1);
    assertThat(configuration.enableMemorySpace()).isTrue();
  }

  private static void registers(MmioRegion bar0) {
    System.out.printf("BAR0: 0x%x bytes, mapped: %s%n", bar0.size(), bar0.isMapped());
    System.out.printf("BAR0[0] = 0x%08x, BAR0[4] = 0x%08x%n", bar0.readInt(0), bar0.readInt(4));
    assertThat(bar0.isMapped()).isTrue();
    assertThat(bar0.readInt(0)).isEqualTo(0x5a00_1ded);
    bar0.writeInt(1024, 0xcafe_0001);
    assertThat(bar0.readInt(1024)).isEqualTo(0xcafe_0001);
    time("read of BAR0, mapped", 1_000_000, () -> bar0.readInt(0));
  }

  private static void copy(PciFunction function, int vector) {
    MmioRegion doorbell = function.region(2);
    try (DmaMapping from = function.allocate(BYTES + 100);
        DmaMapping to = function.allocate(BYTES + 100)) {
      for (int i = 0; i < BYTES; i++) {
        from.segment().set(ValueLayout.JAVA_BYTE, 100 + i, (byte) (i * 13 + vector));
      }
      long start = System.nanoTime();
      ringDoorbell(doorbell, from.iova(100), to.iova(100), BYTES, vector);
      long fired = function.interrupts().await(TimeUnit.SECONDS.toNanos(10));
      System.out.printf(
          "doorbell: vector set 0x%x after %.1f us, status %d%n",
          fired, (System.nanoTime() - start) / 1e3, doorbell.readLong(STATUS));
      assertThat(fired).isEqualTo(1L << vector);
      assertThat(doorbell.readLong(STATUS)).isEqualTo(COPIED);
      assertThat(to.segment().asSlice(100, BYTES).mismatch(from.segment().asSlice(100, BYTES)))
          .isEqualTo(-1);
      System.out.printf(
          "%d bytes copied from IOVA 0x%x to 0x%x: equal%n", BYTES, from.iova(100), to.iova(100));
    }
  }

  private static void ringDoorbell(
      MmioRegion doorbell, long from, long to, long length, long vector) {
    doorbell.writeLong(SOURCE, from);
    doorbell.writeLong(DESTINATION, to);
    doorbell.writeLong(LENGTH, length);
    doorbell.writeLong(VECTOR, vector);
  }

  private static void time(String what, int times, Runnable action) {
    for (int i = 0; i < times; i++) {
      action.run();
    }
    long start = System.nanoTime();
    for (int i = 0; i < times; i++) {
      action.run();
    }
    System.out.printf("%s: %.3f us%n", what, (System.nanoTime() - start) / 1e3 / times);
  }
}
