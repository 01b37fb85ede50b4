package org.hghca.conformance.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Random;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.VfioException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * A backend alone, on the function that the system property {@code hghca.lab.edu} names: the {@code
 * edu} device of QEMU (docs/specs/edu.rst), which copies between memory and a buffer of its own and
 * raises an interrupt when it is done. It needs {@code dma_mask=0xffffffffffffffff}.
 */
@EnabledIfSystemProperty(named = "hghca.lab.edu", matches = ".+")
class EduDeviceTest {
  private static final String LOCATOR = System.getProperty("hghca.lab.edu", "");

  private static final boolean NO_IOMMU = LOCATOR.contains("iommu=noiommu");

  private static final int IDENTIFICATION = 0x00;
  private static final int LIVENESS = 0x04;
  private static final int INTERRUPT_STATUS = 0x24;
  private static final int INTERRUPT_RAISE = 0x60;
  private static final int INTERRUPT_ACKNOWLEDGE = 0x64;
  private static final int DMA_SOURCE = 0x80;
  private static final int DMA_DESTINATION = 0x88;
  private static final int DMA_COUNT = 0x90;
  private static final int DMA_COMMAND = 0x98;

  private static final long COMMAND_START = 1;
  private static final long COMMAND_TO_MEMORY = 1 << 1;
  private static final long COMMAND_INTERRUPT = 1 << 2;

  /** The interrupt status after a copy. */
  private static final int COPY_DONE = 0x100;

  /** Address of the device's own buffer of 4096 bytes, in the device's address space. */
  private static final long BUFFER = 0x4_0000;

  private static final int LENGTH = 2048;

  /** Limit for any wait on an emulated machine. */
  private static final Duration LIMIT = Duration.ofSeconds(20);

  /** Opening a device may take 100 ms; an emulated processor is slower by a factor of about ten. */
  private static final Duration OPENING = Duration.ofMillis(100).multipliedBy(20);

  /** Time of the first opening of this process, which binds system calls; 0 before. */
  private static long firstOpening;

  private PciFunction function;

  @BeforeEach
  void open() {
    long start = System.nanoTime();
    function = PciFunctions.open(Locator.parse(LOCATOR));
    if (firstOpening == 0) {
      firstOpening = System.nanoTime() - start;
    }
    assertThat(function.configuration().enableMemorySpace()).isTrue();
    function.configuration().busMaster(true);
    // Left by an earlier test: this device is not reset when it is opened.
    function
        .region(0)
        .writeInt(INTERRUPT_ACKNOWLEDGE, function.region(0).readInt(INTERRUPT_STATUS));
    while (function.interrupts().await(0) != 0) {}
  }

  @AfterEach
  void close() {
    function.close();
  }

  @Test
  void configurationSpaceIdentifiesTheDevice() {
    assertThat(function.configuration().vendorId()).isEqualTo(0x1234);
    assertThat(function.configuration().deviceId()).isEqualTo(0x11e8);
    assertThat(function.region(0).size()).isEqualTo(1 << 20);
  }

  @Test
  void registersAreReadAndWritten() {
    assertThat(function.region(0).readInt(IDENTIFICATION)).isEqualTo(0x010000ed);
    for (int value : new int[] {0, -1, 0x1234_5678}) {
      function.region(0).writeInt(LIVENESS, value);
      assertThat(function.region(0).readInt(LIVENESS)).isEqualTo(~value);
    }
  }

  @Test
  void deviceReadsAndWritesMemory() {
    try (DmaMapping source = function.allocate(LENGTH);
        DmaMapping destination = function.allocate(LENGTH)) {
      byte[] sent = new byte[LENGTH];
      new Random(1).nextBytes(sent);
      source.segment().copyFrom(MemorySegment.ofArray(sent));

      copy(source.iova(0), BUFFER, 0);
      copy(BUFFER, destination.iova(0), COMMAND_TO_MEMORY);

      MemorySegment received = destination.segment().asSlice(0, LENGTH);
      assertThat(received.mismatch(MemorySegment.ofArray(sent)))
          .as("first wrong byte")
          .isEqualTo(-1);
    }
  }

  /**
   * Without translation, only memory that was allocated for the device is known to stay in place.
   */
  @Test
  void withoutAnIommuMemoryOfTheProgramIsRefused() {
    assumeTrue(NO_IOMMU, "the device is behind an IOMMU");
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(DmaMapping.PAGE_SIZE, DmaMapping.PAGE_SIZE);
      assertThatThrownBy(() -> function.map(memory, DmaAccess.READ_WRITE))
          .isInstanceOf(VfioException.class)
          .hasMessageContaining("IOMMU");
    }
  }

  @Test
  void memoryOfTheProgramIsReachedAtAnyOffset() {
    assumeFalse(NO_IOMMU, "without an IOMMU it is refused");
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(3L * DmaMapping.PAGE_SIZE, DmaMapping.PAGE_SIZE);
      MemorySegment part = memory.asSlice(DmaMapping.PAGE_SIZE + 24, LENGTH);
      try (DmaMapping mapping = function.map(part, DmaAccess.READ_WRITE)) {
        part.fill((byte) 0x5a);
        copy(mapping.iova(0), BUFFER, 0);
        part.fill((byte) 0);
        copy(BUFFER, mapping.iova(0), COMMAND_TO_MEMORY);
      }
      assertThat(bytes(part)).containsOnly(0x5a);
      assertThat(memory.get(ValueLayout.JAVA_BYTE, DmaMapping.PAGE_SIZE + 23)).isZero();
      assertThat(memory.get(ValueLayout.JAVA_BYTE, DmaMapping.PAGE_SIZE + 24 + LENGTH)).isZero();
    }
  }

  @Test
  void everyInterruptArrives() {
    for (int cause = 1; cause <= 0x80; cause <<= 1) {
      function.region(0).writeInt(INTERRUPT_RAISE, cause);
      assertThat(awaitInterrupt()).isEqualTo(cause);
    }
    assertThat(function.interrupts().await(0)).as("an interrupt more than raised").isZero();
  }

  @Test
  void unmappedMemoryIsNotWritten() {
    assumeFalse(NO_IOMMU, "without an IOMMU nothing stops a device");
    try (Arena arena = Arena.ofShared();
        DmaMapping witness = function.allocate(LENGTH)) {
      MemorySegment memory = arena.allocate(DmaMapping.PAGE_SIZE, DmaMapping.PAGE_SIZE);
      DmaMapping mapping = function.map(memory, DmaAccess.READ_WRITE);
      long iova = mapping.iova(0);
      witness.segment().fill((byte) 0x11);
      copy(witness.iova(0), BUFFER, 0);
      copy(BUFFER, iova, COMMAND_TO_MEMORY);
      assertThat(bytes(memory.asSlice(0, LENGTH))).containsOnly(0x11);

      mapping.close();
      memory.fill((byte) 0x22);
      copy(BUFFER, iova, COMMAND_TO_MEMORY);

      assertThat(bytes(memory)).containsOnly(0x22);
      copy(BUFFER, witness.iova(0), COMMAND_TO_MEMORY);
      assertThat(bytes(witness.segment().asSlice(0, LENGTH))).containsOnly(0x11);
    }
  }

  @Test
  void deviceCanBeReopenedAtOnce() {
    function.close();
    open();
    function.region(0).writeInt(INTERRUPT_RAISE, 1);
    assertThat(awaitInterrupt()).isEqualTo(1);
  }

  @Test
  void openingTakesLittleTime(TestReporter reporter) {
    function.close();
    long start = System.nanoTime();
    function = PciFunctions.open(Locator.parse(LOCATOR));
    long nanos = System.nanoTime() - start;
    reporter.publishEntry(
        "opening a device, first in a process and again",
        "%d ms, %d ms".formatted(firstOpening / 1_000_000, nanos / 1_000_000));
    assertThat(nanos).isLessThan(OPENING.toNanos());
  }

  /** Makes the device copy {@link #LENGTH} bytes, and waits for its interrupt. */
  private void copy(long source, long destination, long direction) {
    function.region(0).writeLong(DMA_SOURCE, source);
    function.region(0).writeLong(DMA_DESTINATION, destination);
    function.region(0).writeLong(DMA_COUNT, LENGTH);
    function.region(0).writeLong(DMA_COMMAND, COMMAND_START | COMMAND_INTERRUPT | direction);
    assertThat(awaitInterrupt()).isEqualTo(COPY_DONE);
  }

  /** The cause of the next interrupt, which is acknowledged. */
  private int awaitInterrupt() {
    assertThat(function.interrupts().await(LIMIT.toNanos())).as("vectors that fired").isEqualTo(1);
    int cause = function.region(0).readInt(INTERRUPT_STATUS);
    function.region(0).writeInt(INTERRUPT_ACKNOWLEDGE, cause);
    return cause;
  }

  private static byte[] bytes(MemorySegment segment) {
    return segment.toArray(ValueLayout.JAVA_BYTE);
  }
}
