package org.hghca.vfio.dma;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaWindow;
import org.junit.jupiter.api.Test;

/** Who waits for whom at the mapping of a device in this process. */
class IommuTest {
  private static final long IOVA = 0x10_000;
  private static final int BYTES = 4096;

  private final Iommu iommu = new Iommu();
  private final MemorySegment memory = Arena.ofAuto().allocate(BYTES);
  private final MemorySegment buffer = Arena.ofAuto().allocate(8);

  IommuTest() {
    iommu.map(new DmaWindow(IOVA, memory, DmaAccess.READ_WRITE, true));
  }

  /**
   * One who maps memory may be a virtual thread without a processor: the thread that does the
   * device's work goes on.
   */
  @Test
  void accessesInARunWaitForNobody() throws Exception {
    memory.set(ValueLayout.JAVA_LONG, 0, 0x1234);
    CompletableFuture<Boolean> device;
    synchronized (iommu) {
      device =
          CompletableFuture.supplyAsync(
              () -> {
                iommu.beginRun();
                try {
                  return iommu.window(IOVA) != null
                      && iommu.read(IOVA, buffer, 0, 8)
                      && iommu.write(IOVA + 8, buffer, 0, 8);
                } finally {
                  iommu.endRun();
                }
              });
      assertThat(device.get(60, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(memory.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(0x1234);
  }

  @Test
  void accessOutsideARunExcludesAnUnmap() throws Exception {
    assertWaitsForTheMonitor();
  }

  private void assertWaitsForTheMonitor() throws Exception {
    CompletableFuture<Boolean> device;
    synchronized (iommu) {
      device = CompletableFuture.supplyAsync(() -> iommu.read(IOVA, buffer, 0, 8));
      while (!device.isDone() && !isBlocked()) {
        Thread.onSpinWait();
      }
      assertThat(device).isNotDone();
    }
    assertThat(device.get(60, TimeUnit.SECONDS)).isTrue();
  }

  /** Whether some thread waits in a read. */
  private static boolean isBlocked() {
    return Thread.getAllStackTraces().entrySet().stream()
        .anyMatch(
            thread ->
                thread.getKey().getState() == Thread.State.BLOCKED
                    && thread.getValue().length > 0
                    && thread.getValue()[0].getClassName().equals(Iommu.class.getName()));
  }

  @Test
  void runOfAnotherThreadIsNoRunOfThisOne() throws Exception {
    Thread other = Thread.ofPlatform().start(iommu::beginRun);
    other.join();

    assertWaitsForTheMonitor();
  }
}
