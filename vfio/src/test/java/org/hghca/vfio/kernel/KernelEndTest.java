package org.hghca.vfio.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a function of the kernel's VFIO ends: closed, lost, or after a failed call. */
class KernelEndTest extends KernelFunctionFixture {
  @Test
  void busMasteringIsOffBeforeTheDriverAndAfterTheClose() {
    try (PciFunction function = open("")) {
      assertThat(card.isBusMaster()).isFalse();
      function.configuration().busMaster(true);
      assertThat(card.isBusMaster()).isTrue();
    }

    assertThat(card.isBusMaster()).isFalse();
  }

  @Test
  void closeStopsTheDeviceBeforeItUnmapsMemory() {
    PciFunction function = open("");
    function.region(2).writeInt(0, 1);
    assertThat(function.interrupts().vectors()).isEqualTo(32);
    DmaMapping mapping = function.map(shared(4096), DmaAccess.READ_WRITE);
    function.configuration().busMaster(true);
    vfio.calls.clear();

    function.close();
    function.close();

    assertThat(vfio.calls)
        .containsSubsequence(
            "pwrite Device", // bus mastering off
            "VFIO_DEVICE_SET_IRQS Device", // interrupts off
            "VFIO_IOMMU_UNMAP_DMA Container", // memory
            "munmap", // registers
            "close Device",
            "close Group",
            "close Container");
    assertThat(vfio.mapped()).isEmpty();
    mapping.close();
  }

  @Test
  void closedFunctionRefusesEverything() {
    PciFunction function = open("");
    DmaMapping mapping = function.allocate(4096);
    function.close();

    assertThat(function.canReset()).isTrue();
    assertThat(function.dmaFaults()).isEmpty();
    assertThat(function.locator()).isEqualTo(Locator.parse("pci:" + CARD));
    mapping.close();
    List<Runnable> calls =
        List.of(
            function::configuration,
            function::interrupts,
            function::reset,
            () -> function.region(0),
            () -> function.allocate(1),
            () -> function.map(shared(1), DmaAccess.READ));
    for (Runnable call : calls) {
      assertReason(Reason.CLOSED, call::run);
    }
  }

  /** Threads that keep using a function while it is closed. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void closeDuringUseIsReportedAndCrashesNoThread(boolean lost) throws Exception {
    MemorySegment memory = shared(8192);
    for (int round = 0; round < 10; round++) {
      PciFunction function = open("");
      MmioRegion doorbells = function.region(2);
      Interrupts interrupts = function.interrupts();
      CountDownLatch storing = new CountDownLatch(1);
      CountDownLatch waiting = new CountDownLatch(1);
      CountDownLatch mapping = new CountDownLatch(1);
      AtomicBoolean over = new AtomicBoolean();
      try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
        Future<?> stores =
            threads.submit(
                () -> {
                  while (!over.get() || doorbells.readInt(0) != -1) {
                    doorbells.writeLong(8, 1);
                    storing.countDown();
                  }
                });
        Future<?> waits = untilClosed(threads, () -> interrupts.await(1_000_000), waiting);
        Future<?> maps =
            untilClosed(
                threads,
                () -> {
                  function.map(memory, DmaAccess.READ_WRITE).close();
                  function.allocate(4096).close();
                },
                mapping);
        for (CountDownLatch going : List.of(storing, waiting, mapping)) {
          assertThat(going.await(20, TimeUnit.SECONDS)).isTrue();
        }
        if (lost) {
          card.raise(VfioAbi.REQ_IRQ, 0);
          waits.get(20, TimeUnit.SECONDS);
        }
        function.close();
        over.set(true);
        for (Future<?> thread : List.of(stores, waits, maps)) {
          thread.get(20, TimeUnit.SECONDS);
        }
      }
      assertThat(vfio.leaks()).isEmpty();
    }
  }

  private static Future<?> untilClosed(
      ExecutorService threads, Runnable work, CountDownLatch going) {
    return threads.submit(
        () -> {
          try {
            while (true) {
              work.run();
              going.countDown();
            }
          } catch (VfioException e) {
            assertThat(e.reason()).isEqualTo(Reason.CLOSED);
          }
        });
  }

  /** All operations of a driver, until one fails. */
  private void use(String parameters) {
    try (PciFunction function = open(parameters)) {
      function.region(0).writeInt(0, 1);
      function.region(2).writeLong(0, 1);
      assertThat(function.interrupts().await(0)).isZero();
      function.configuration().busMaster(true);
      try (DmaMapping mapping = function.allocate(4096)) {
        assertThat(mapping.iova(0)).isPositive();
      }
      function.map(shared(4096), DmaAccess.READ_WRITE);
      if (function.canReset()) {
        function.reset();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"iommu=group", "iommu=iommufd", "iommufd", "container"})
  void failureOfAnyCallLeavesNothingBehind(String way) {
    machine.iommufd(CARD);
    card.sparse[2] = new long[] {0, 0x1000, 0x2000, 0x1000};
    card.configuration[4] = 0;
    boolean failed = true;
    int call = 0;
    for (; failed; call++) {
      int device = way.startsWith("iommu=") ? -1 : vfio.openDevice(card, way.equals("iommufd"));
      int other =
          device < 0 ? -1 : way.equals("iommufd") ? vfio.openIommufd() : vfio.openContainer();
      vfio.calls.clear();
      vfio.fail(call, call % 2 == 0 ? 12 : 22);
      try {
        use(
            switch (way) {
              case "iommufd" -> "fd=%d&iommufd=%d".formatted(device, other);
              case "container" -> "fd=%d&container=fd:%d".formatted(device, other);
              default -> way;
            });
      } catch (VfioException e) {
        assertThat(e.getMessage()).isNotEmpty();
      }
      failed = vfio.calls.stream().anyMatch(name -> name.endsWith(" failed"));
      vfio.fail(-1, 0);
      if (device >= 0) {
        assertThat(vfio.system.close(device)).isZero();
        assertThat(vfio.system.close(other)).isZero();
      }
      assertThat(vfio.leaks()).as("after call %d, %s", call, vfio.calls).isEmpty();
      assertThat(card.isBusMaster()).isFalse();
    }
    assertThat(call).isGreaterThan(40);
  }
}
