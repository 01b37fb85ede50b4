package org.hghca.vfio.inprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaFault;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Locator;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.testing.Racers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory between a host and a device in the same process. */
class DmaMappingTest {
  private final FakeDevice device = new FakeDevice();
  private final InProcessFunction function =
      InProcessFunction.connect(Locator.parse("fake:f0"), device);

  @AfterEach
  void close() {
    function.close();
  }

  private static MemorySegment memory(long bytes) {
    return Arena.ofAuto().allocate(bytes, 4096);
  }

  private static byte[] bytes(int... values) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      bytes[i] = (byte) values[i];
    }
    return bytes;
  }

  private void assertInvalid(MemorySegment memory, DmaAccess access, String... message) {
    assertReason(Reason.INVALID, () -> function.map(memory, access))
        .hasMessageContainingAll(message);
    assertThat(function.mappings()).isZero();
  }

  @Test
  void deviceReadsAndWritesMappedMemory() {
    MemorySegment memory = memory(8192);
    DmaMapping mapping = function.map(memory, DmaAccess.READ_WRITE);
    memory.set(ValueLayout.JAVA_BYTE, 5000, (byte) 42);

    assertThat(device.dmaRead(mapping.iova(5000), 1)).containsExactly(42);
    assertThat(device.dmaWrite(mapping.iova(4094), 1, 2, 3, 4)).isTrue();

    assertThat(memory.asSlice(4093, 6).toArray(ValueLayout.JAVA_BYTE))
        .isEqualTo(bytes(0, 1, 2, 3, 4, 0));
    assertThat(mapping.segment()).isSameAs(memory);
    assertThat(mapping.access()).isEqualTo(DmaAccess.READ_WRITE);
    assertThat(function.dmaFaults()).isEmpty();
  }

  @Test
  void deviceUsesTheOffsetInItsOwnMemory() {
    MemorySegment memory = memory(16);
    DmaMapping mapping = function.map(memory, DmaAccess.READ_WRITE);
    MemorySegment own = MemorySegment.ofArray(bytes(1, 2, 3, 4, 5));

    assertThat(device.bus().write(mapping.iova(0), own, 3, 2)).isTrue();
    assertThat(device.bus().read(mapping.iova(0), own, 1, 2)).isTrue();

    assertThat(memory.asSlice(0, 3).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bytes(4, 5, 0));
    assertThat(own.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bytes(1, 4, 5, 4, 5));
  }

  @Test
  void emptyAccessMovesNothing() {
    assertThat(device.dmaRead(0x5000, 0)).isEmpty();
    assertThat(device.dmaWrite(0x5000)).isTrue();
    assertThat(function.dmaFaults()).isEmpty();
  }

  @Test
  void ioAddressKeepsTheOffsetInThePage() {
    MemorySegment memory = memory(3 * 4096);

    DmaMapping mapping = function.map(memory.asSlice(0x123, 4096), DmaAccess.READ_WRITE);

    assertThat(mapping.iova(0) & 0xfff).isEqualTo(0x123);
    for (int offset : new int[] {1, 0xedd, 4095}) {
      assertThat(mapping.iova(offset)).isEqualTo(mapping.iova(0) + offset);
    }
    assertThat(mapping.iova(0)).isGreaterThanOrEqualTo(0x1_0000);
  }

  @Test
  void ioAddressOfAByteOutsideIsRefused() {
    DmaMapping mapping = function.map(memory(100), DmaAccess.READ);

    assertThatThrownBy(() -> mapping.iova(-1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> mapping.iova(100)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void segmentsThatShareAPageHaveTheirOwnPagesForTheDevice() {
    MemorySegment memory = memory(4096);
    DmaMapping one = function.map(memory.asSlice(0, 100), DmaAccess.READ_WRITE);
    DmaMapping other = function.map(memory.asSlice(100, 100), DmaAccess.READ_WRITE);

    assertThat(one.iova(0) >>> 12).isNotEqualTo(other.iova(0) >>> 12);
    device.dmaWrite(other.iova(0), 9);
    assertThat(memory.get(ValueLayout.JAVA_BYTE, 100)).isEqualTo((byte) 9);
  }

  @Test
  void overlappingMappingsWorkAndEndIndependently() {
    MemorySegment memory = memory(8192);
    DmaMapping all = function.map(memory, DmaAccess.READ_WRITE);
    DmaMapping same = function.map(memory, DmaAccess.READ_WRITE);
    DmaMapping half = function.map(memory.asSlice(4096, 4096), DmaAccess.READ);
    assertThat(function.mappings()).isEqualTo(3);

    device.dmaWrite(all.iova(4096), 7);
    assertThat(device.dmaRead(half.iova(0), 1)).containsExactly(7);
    all.close();

    assertThat(device.dmaRead(all.iova(0), 1)).isNull();
    assertThat(device.dmaWrite(same.iova(4096), 8)).isTrue();
    assertThat(device.dmaRead(half.iova(0), 1)).containsExactly(8);
    assertThat(device.dmaWrite(half.iova(0), 1)).isFalse();
    assertThat(function.mappings()).isEqualTo(2);
  }

  @Test
  void unmappedMemoryIsNotReachable() {
    MemorySegment memory = memory(4096);
    DmaMapping mapping = function.map(memory, DmaAccess.READ_WRITE);
    long iova = mapping.iova(0x10);
    device.dmaWrite(iova, 1);

    mapping.close();
    mapping.close();

    assertThat(device.dmaWrite(iova, 2, 3)).isFalse();
    assertThat(device.dmaRead(iova, 4)).isNull();
    assertThat(memory.get(ValueLayout.JAVA_BYTE, 0x10)).isEqualTo((byte) 1);
    assertThat(function.mappings()).isZero();
    assertThat(function.dmaFaults())
        .containsExactly(
            new DmaFault(iova, 2, true, "not mapped"), new DmaFault(iova, 4, false, "not mapped"));
    assertThat(function.dmaFaults().getFirst())
        .hasToString("DMA write of 2 bytes at IOVA 0x%x: not mapped".formatted(iova));
  }

  @Test
  void ioAddressesOfUnmappedMemoryAreReused() {
    DmaMapping first = function.map(memory(4096), DmaAccess.READ_WRITE);
    long iova = first.iova(0);
    first.close();
    MemorySegment memory = memory(4096);

    DmaMapping second = function.map(memory, DmaAccess.READ_WRITE);
    first.close();

    assertThat(second.iova(0)).isEqualTo(iova);
    assertThat(device.dmaWrite(iova, 5)).isTrue();
    assertThat(memory.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 5);
  }

  @ParameterizedTest
  @CsvSource({"-1,1", "-1,2", "100,1", "99,2", "0,101"})
  void accessBeyondTheMemoryIsAFaultAndMovesNothing(int offset, int length) {
    MemorySegment memory = memory(4096);
    MemorySegment middle = memory.asSlice(200, 100);
    DmaMapping mapping = function.map(middle, DmaAccess.READ_WRITE);
    long iova = mapping.iova(0) + offset;
    int[] ones = new int[length];
    Arrays.fill(ones, 1);

    assertThat(device.dmaWrite(iova, ones)).isFalse();
    assertThat(device.dmaRead(iova, length)).isNull();

    assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    assertThat(function.dmaFaults())
        .extracting(DmaFault::iova, DmaFault::length)
        .containsOnly(tuple(iova, (long) length));
  }

  @Test
  void addressesNearTheEndOfTheAddressSpaceAreFaults() {
    function.map(memory(4096), DmaAccess.READ_WRITE);

    assertThat(device.dmaRead(-1, 8)).isNull();
    assertThat(device.dmaRead(Long.MIN_VALUE, 8)).isNull();
    assertThat(device.dmaRead(Long.MAX_VALUE, 8)).isNull();
    assertThat(device.dmaRead(0, 8)).isNull();
    assertThat(function.dmaFaults()).hasSize(4);
  }

  @Test
  void deviceCannotWriteMemoryMappedForReading() {
    MemorySegment memory = memory(16);
    DmaMapping mapping = function.map(memory.asReadOnly(), DmaAccess.READ);
    memory.set(ValueLayout.JAVA_BYTE, 0, (byte) 3);

    assertThat(device.dmaRead(mapping.iova(0), 1)).containsExactly(3);
    assertThat(device.dmaWrite(mapping.iova(0), 4)).isFalse();

    assertThat(memory.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 3);
    assertThat(function.dmaFaults())
        .containsExactly(new DmaFault(mapping.iova(0), 1, true, "mapped read-only"));
  }

  @Test
  void newest64FaultsAreKept() {
    for (int i = 0; i < 100; i++) {
      device.dmaWrite(i, 1);
    }

    assertThat(function.dmaFaults()).hasSize(64);
    assertThat(function.dmaFaults().getFirst().iova()).isEqualTo(36);
    assertThat(function.dmaFaults().getLast().iova()).isEqualTo(99);
  }

  @Test
  void heapMemoryIsRefused() {
    assertInvalid(MemorySegment.ofArray(new byte[64]), DmaAccess.READ, "heap memory", "Arena");
  }

  @Test
  void emptySegmentIsRefused() {
    assertInvalid(memory(64).asSlice(0, 0), DmaAccess.READ, "0 bytes");
  }

  @Test
  void memoryOfAClosedArenaIsRefused() {
    Arena arena = Arena.ofShared();
    MemorySegment memory = arena.allocate(64);
    arena.close();

    assertInvalid(memory, DmaAccess.READ, "closed arena");
  }

  @Test
  void readOnlyMemoryCannotBeMappedForWriting() {
    assertInvalid(memory(64).asReadOnly(), DmaAccess.READ_WRITE, "read-only");
  }

  @Test
  void confinedMemoryIsRefusedWhereADeviceThreadAccessesIt() {
    Thread here = Thread.currentThread();
    String name = here.getName();
    here.setName("the owner");
    try (Arena arena = Arena.ofConfined()) {
      assertInvalid(
          arena.allocate(64),
          DmaAccess.READ,
          "confined to thread 'the owner'",
          "fake:f0",
          "its own thread",
          "Arena.ofShared()");
    } finally {
      here.setName(name);
    }
  }

  @Test
  void confinedMemoryOfTheCallerIsAcceptedByAnInlineDevice() {
    device.inline = true;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(64);
      try (DmaMapping mapping = function.map(memory, DmaAccess.READ_WRITE)) {
        assertThat(device.dmaWrite(mapping.iova(0), 6)).isTrue();
      }
      assertThat(memory.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 6);
    }
  }

  @Test
  void confinedMemoryOfAnotherThreadIsRefusedByAnInlineDeviceToo() throws Exception {
    device.inline = true;
    try (Arena arena = Arena.ofConfined();
        ExecutorService stranger = Executors.newSingleThreadExecutor()) {
      MemorySegment memory = arena.allocate(64);

      stranger
          .submit(
              () ->
                  assertInvalid(
                      memory, DmaAccess.READ, "confined to another thread", "the calling thread"))
          .get();
    }
  }

  @Test
  void accessToConfinedMemoryFromAnotherThreadIsAFault() throws Exception {
    device.inline = true;
    try (Arena arena = Arena.ofConfined();
        ExecutorService stranger = Executors.newSingleThreadExecutor()) {
      DmaMapping mapping = function.map(arena.allocate(64), DmaAccess.READ_WRITE);

      assertThat(stranger.submit(() -> device.dmaWrite(mapping.iova(0), 1)).get()).isFalse();
      assertThat(stranger.submit(() -> device.dmaRead(mapping.iova(0), 1)).get()).isNull();
    }

    assertThat(function.dmaFaults()).extracting(DmaFault::write).containsExactly(true, false);
    assertThat(function.dmaFaults().getFirst().cause()).contains("thread");
  }

  @Test
  void arenaClosedUnderTheDeviceIsAFault() {
    Arena arena = Arena.ofShared();
    DmaMapping mapping = function.map(arena.allocate(64), DmaAccess.READ_WRITE);
    arena.close();

    assertThat(device.dmaWrite(mapping.iova(8), 1, 2)).isFalse();
    assertThat(device.dmaWrite(mapping.iova(8), 1)).isFalse();
    assertThat(device.dmaRead(mapping.iova(8), 4)).isNull();

    assertThat(function.dmaFaults()).hasSize(3);
    assertThat(function.dmaFaults().getFirst().cause()).containsIgnoringCase("closed");
    mapping.close();
    assertThat(function.mappings()).isZero();
  }

  @Test
  void allocatedMemoryIsZeroedPageAlignedAndForAnyThread() throws Exception {
    DmaMapping mapping = function.allocate(100);

    assertThat(mapping.segment().byteSize()).isEqualTo(4096);
    assertThat(mapping.segment().address() % 4096).isZero();
    assertThat(mapping.iova(0) % 4096).isZero();
    assertThat(mapping.access()).isEqualTo(DmaAccess.READ_WRITE);
    assertThat(mapping.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    assertThat(mapping.segment().isAccessibleBy(Thread.ofPlatform().unstarted(() -> {}))).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"4096,4096", "4097,8192", "12288,12288", "20000,20480"})
  void allocationIsRoundedUpToWholePages(long bytes, long size) {
    assertThat(function.allocate(bytes).segment().byteSize()).isEqualTo(size);
  }

  @Test
  void deviceCannotReachBeyondAllocatedMemory() {
    DmaMapping mapping = function.allocate(3 * 4096);

    assertThat(device.dmaWrite(mapping.iova(3 * 4096 - 1), 1)).isTrue();
    assertThat(device.dmaWrite(mapping.iova(0) + 3 * 4096, 1)).isFalse();
  }

  @Test
  void freedMemoryIsReusedAndZeroed() {
    DmaMapping first = function.allocate(5 * 4096);
    long address = first.segment().address();
    first.segment().fill((byte) 0xff);
    first.close();

    DmaMapping second = function.allocate(6 * 4096);

    assertThat(second.segment().address()).isEqualTo(address);
    assertThat(second.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    first.close();
    assertThat(function.mappings()).isOne();
  }

  @Test
  void memoryInUseIsNeverAllocatedTwice() {
    DmaMapping first = function.allocate(4096);
    DmaMapping second = function.allocate(4096);

    assertThat(second.segment().address()).isNotEqualTo(first.segment().address());
    assertThat(second.iova(0)).isNotEqualTo(first.iova(0));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE})
  void emptyAllocationIsRefused(long bytes) {
    assertReason(Reason.INVALID, () -> function.allocate(bytes))
        .hasMessageContaining(bytes + " bytes");
  }

  @ParameterizedTest
  @ValueSource(longs = {1L << 46, (1L << 62) + 1, Long.MAX_VALUE - 4095, Long.MAX_VALUE})
  void allocationBeyondAnyMachinesMemoryNamesTheLimit(long bytes) {
    assertReason(Reason.NO_MEMORY, () -> function.allocate(bytes))
        .hasMessageContainingAll(bytes + " bytes", "ulimit -v");
    assertThat(function.mappings()).isZero();
  }

  @Test
  void unmapReturnsOnlyAfterTheAccessInFlight() throws Exception {
    // The device fills the memory with consecutive numbers. Were a write still in progress when
    // close returns, the memory would hold two numbers, or change afterwards.
    int size = 1 << 20;
    MemorySegment memory = memory(size);
    MemorySegment pattern = memory(size);
    try (ExecutorService executor = Executors.newSingleThreadExecutor()) {
      for (int amid = 0; amid < 20; ) {
        DmaMapping mapping = function.map(memory, DmaAccess.READ_WRITE);
        AtomicLong writes = new AtomicLong();
        AtomicBoolean writing = new AtomicBoolean();
        Future<?> refused =
            executor.submit(
                () -> {
                  boolean written = true;
                  while (written) {
                    pattern.fill((byte) writes.incrementAndGet());
                    writing.set(true);
                    written = device.bus().write(mapping.iova(0), pattern, 0, size);
                    writing.set(false);
                  }
                });
        while (writes.get() < 3 || !writing.get()) {
          Thread.onSpinWait();
        }
        amid += writing.get() ? 1 : 0; // the write that close() has to wait for, or is about to end

        mapping.close();
        byte[] atClose = memory.toArray(ValueLayout.JAVA_BYTE);
        refused.get();

        assertThat(memory.mismatch(MemorySegment.ofArray(atClose))).isEqualTo(-1);
        assertThat(MemorySegment.ofArray(atClose).asSlice(1).mismatch(memory.asSlice(0, size - 1)))
            .isEqualTo(-1);
      }
    }
  }

  @Test
  void threadsMapAndUnmapConcurrently() throws Exception {
    Racers.Step work =
        round -> {
          int i = 1 + round % 300;
          try (DmaMapping allocated = function.allocate(1 + i % 3 * 4096);
              DmaMapping mapped = function.map(allocated.segment(), DmaAccess.READ)) {
            assertThat(device.dmaWrite(allocated.iova(i), i)).isTrue();
            assertThat(device.dmaRead(mapped.iova(i), 1)[0]).isEqualTo((byte) i);
          }
        };
    Racers.race(300, Collections.nCopies(4, work));
    assertThat(function.mappings()).isZero();
    assertThat(function.dmaFaults()).isEmpty();
  }

  @Test
  void mappingsClosedWhileTheFunctionClosesAreNoError() throws Exception {
    try (ExecutorService executor = Executors.newSingleThreadExecutor()) {
      int both = 0;
      for (int round = 0; round < 200 || both < 5; round++) {
        InProcessFunction other =
            InProcessFunction.connect(Locator.parse("fake:f1"), new FakeDevice());
        List<DmaMapping> mappings = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
          mappings.add(other.map(memory(16), DmaAccess.READ));
        }
        AtomicInteger closed = new AtomicInteger();
        Future<?> closing =
            executor.submit(
                () -> {
                  for (DmaMapping mapping : mappings) {
                    mapping.close();
                    closed.incrementAndGet();
                  }
                });
        while (closed.get() <= round % 10) {
          Thread.onSpinWait();
        }
        other.close();
        both += closed.get() < mappings.size() ? 1 : 0; // the function closed the rest
        closing.get();
        assertThat(other.mappings()).isZero();
      }
    }
  }
}
