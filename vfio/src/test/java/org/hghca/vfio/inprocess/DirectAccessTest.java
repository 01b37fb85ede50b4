package org.hghca.vfio.inprocess;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicBoolean;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.DmaWindow;
import org.hghca.vfio.Locator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs of accesses in which a device reaches memory through windows. */
class DirectAccessTest {
  private static final int BYTES = 8192;

  private final FakeDevice device = new FakeDevice();
  private final InProcessFunction function =
      InProcessFunction.connect(Locator.parse("fake:f0"), device);

  @AfterEach
  void close() {
    function.close();
  }

  @Test
  void aWindowIsTheMemoryAroundAnAddress() {
    DeviceBus bus = device.bus();
    DmaMapping mapping = function.allocate(BYTES);
    bus.beginRun();
    DmaWindow window = bus.window(mapping.iova(4096));

    assertThat(window.holds(mapping.iova(0), BYTES)).isTrue();
    assertThat(window.holds(mapping.iova(1), BYTES)).isFalse();
    assertThat(window.holds(mapping.iova(0) - 1, 1)).isFalse();
    window.write(mapping.iova(8), MemorySegment.ofArray(new byte[] {1, 2, 3}), 1, 2);
    bus.endRun();

    assertThat(mapping.segment().asSlice(8, 3).toArray(ValueLayout.JAVA_BYTE))
        .containsExactly(2, 3, 0);
    assertThat(bus.window(mapping.iova(0) + BYTES)).isNull();
  }

  @Test
  void memoryOfTheDriverStaysUntilItIsUnmapped() {
    DeviceBus bus = device.bus();
    try (Arena arena = Arena.ofShared();
        DmaMapping mapped = function.map(arena.allocate(BYTES), DmaAccess.READ_WRITE);
        DmaMapping owned = function.mapOwned(arena.allocate(BYTES), DmaAccess.READ);
        DmaMapping allocated = function.allocate(BYTES)) {
      bus.beginRun();
      assertThat(bus.window(mapped.iova(0)).stays()).isFalse();
      assertThat(bus.window(owned.iova(0)).stays()).isTrue();
      assertThat(bus.window(owned.iova(0)).access()).isEqualTo(DmaAccess.READ);
      assertThat(bus.window(allocated.iova(0)).stays()).isTrue();
      bus.endRun();
    }
  }

  @Test
  void theNumberOfARunChangesWhenMemoryWasTakenAway() {
    DeviceBus bus = device.bus();
    DmaMapping first = function.allocate(BYTES);
    long before = bus.beginRun();
    bus.endRun();

    DmaMapping second = function.map(Arena.ofAuto().allocate(BYTES), DmaAccess.READ_WRITE);
    assertThat(bus.beginRun()).isEqualTo(before);
    bus.endRun();

    second.close();
    assertThat(bus.beginRun()).isNotEqualTo(before);
    bus.endRun();
    first.close();
  }

  @Test
  void memoryIsTakenAwayAfterTheEndOfTheRun() throws InterruptedException {
    DeviceBus bus = device.bus();
    MemorySegment memory = Arena.ofAuto().allocate(BYTES);
    DmaMapping mapping = function.map(memory, DmaAccess.READ_WRITE);
    long iova = mapping.iova(0);
    AtomicBoolean taken = new AtomicBoolean();
    Thread unmapping =
        Thread.ofPlatform()
            .unstarted(
                () -> {
                  mapping.close();
                  taken.set(true);
                });
    bus.beginRun();
    DmaWindow window = bus.window(iova);
    unmapping.start();
    while (bus.window(iova) != null) {
      Thread.onSpinWait();
    }
    for (int i = 0; i < 1000; i++) {
      window.write(iova, MemorySegment.ofArray(new byte[] {7}), 0, 1);
      Thread.yield();
    }
    assertThat(taken).isFalse();

    bus.endRun();

    unmapping.join();
    assertThat(taken).isTrue();
  }

  @Test
  void theThreadOfARunMayTakeMemoryAway() {
    DeviceBus bus = device.bus();
    DmaMapping mapping = function.map(Arena.ofAuto().allocate(BYTES), DmaAccess.READ_WRITE);
    bus.beginRun();

    mapping.close();

    assertThat(bus.window(mapping.iova(0))).isNull();
    bus.endRun();
  }

  @Test
  void memoryOfAFileHasNoWindow(@TempDir Path directory) throws IOException {
    try (Arena arena = Arena.ofShared();
        FileChannel file =
            FileChannel.open(
                directory.resolve("file"),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
      MemorySegment memory = file.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena);
      try (DmaMapping mapping = function.map(memory, DmaAccess.READ_WRITE)) {
        device.bus().beginRun();
        assertThat(device.bus().window(mapping.iova(0))).isNull();
        device.bus().endRun();
        assertThat(device.dmaWrite(mapping.iova(0), 1)).isTrue();
      }
    }
  }

  @Test
  void memoryOfOneThreadHasNoWindow() {
    device.inline = true;
    try (Arena arena = Arena.ofConfined();
        DmaMapping mapping = function.map(arena.allocate(BYTES), DmaAccess.READ_WRITE)) {
      device.bus().beginRun();
      assertThat(device.bus().window(mapping.iova(0))).isNull();
      device.bus().endRun();
      assertThat(device.dmaWrite(mapping.iova(0), 1)).isTrue();
    }
  }
}
