package org.hghca.vfio.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import org.hghca.vfio.MemorySource;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.memory.BufferPool.Buffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BufferPoolTest {
  private final BufferPool pool = new BufferPool(MemorySource.ANONYMOUS);

  @AfterEach
  void close() {
    pool.close();
  }

  @Test
  void bufferIsZeroedPageAlignedExactAndForAnyThread() {
    try (Buffer buffer = pool.allocate(5000)) {
      MemorySegment segment = buffer.segment();

      assertThat(segment.byteSize()).isEqualTo(5000);
      assertThat(segment.address() % 4096).isZero();
      assertThat(segment.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
      assertThat(segment.isAccessibleBy(Thread.ofPlatform().unstarted(() -> {}))).isTrue();
      assertThat(segment.isReadOnly()).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {2 << 20, (2 << 20) + 1, 7 << 20})
  void memoryOfAHugePageOrMoreUsesWholeOnes(long bytes) {
    try (Buffer small = pool.allocate(4096);
        Buffer large = pool.allocate(bytes)) {
      assertThat(small.segment().address() % 4096).isZero();
      assertThat(large.segment().address() % (2 << 20)).isZero();
    }
  }

  @Test
  void accessToAClosedBufferThrows() {
    Buffer buffer = pool.allocate(64);
    MemorySegment segment = buffer.segment();
    buffer.close();

    assertThatThrownBy(() -> segment.set(ValueLayout.JAVA_BYTE, 0, (byte) 1))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> segment.asSlice(8).get(ValueLayout.JAVA_BYTE, 0))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void memoryIsReusedZeroedAndInaccessibleToItsFirstUser() {
    Buffer first = pool.allocate(8000);
    MemorySegment old = first.segment();
    old.fill((byte) 0xff);
    first.close();

    try (Buffer second = pool.allocate(8192)) {
      assertThat(second.segment().address()).isEqualTo(old.address());
      assertThat(second.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
      first.close();
      assertThat(second.segment().scope().isAlive()).isTrue();
      assertThatThrownBy(() -> old.get(ValueLayout.JAVA_BYTE, 0))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @ParameterizedTest
  @CsvSource({"5, 8", "513, 767", "1025, 1536", "4097, 5120"})
  void smallFreedBuffersServeALargerOne(int pages, int largerPages) {
    Buffer first = pool.allocate(pages * 4096L);
    long address = first.segment().address();
    first.close();

    try (Buffer second = pool.allocate(largerPages * 4096L)) {
      assertThat(second.segment().address()).isEqualTo(address);
      assertThat(second.segment().byteSize()).isEqualTo(largerPages * 4096L);
    }
  }

  @Test
  void deviceReachesABufferUntilItsCloseAndTheProgramUntilItsEnd() {
    Buffer first = pool.allocate(64);
    MemorySegment forDevice = first.deviceMemory();
    assertThat(forDevice.byteSize()).isEqualTo(64);
    assertThat(forDevice.address()).isEqualTo(first.segment().address());
    first.end();
    first.end();

    assertThat(first.segment().scope().isAlive()).isFalse();
    forDevice.set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
    try (Buffer second = pool.allocate(64)) {
      assertThat(second.segment().address()).isNotEqualTo(forDevice.address());
    }
    first.close();
    try (Buffer third = pool.allocate(64);
        Buffer fourth = pool.allocate(64)) {
      assertThat(forDevice.address()).isIn(third.segment().address(), fourth.segment().address());
    }
  }

  @Test
  void closingABufferTwiceDoesNotAllocateItTwice() {
    Buffer first = pool.allocate(64);
    first.close();
    first.close();

    try (Buffer a = pool.allocate(64);
        Buffer b = pool.allocate(64)) {
      assertThat(a.segment().address()).isNotEqualTo(b.segment().address());
    }
  }

  @Test
  void allocatedBuffersOutliveTheClosedPool() {
    Buffer first = pool.allocate(64);
    Buffer second = pool.allocate(64);
    pool.close();
    pool.close();

    first.close();
    second.segment().set(ValueLayout.JAVA_LONG, 0, 7);
    assertThat(second.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(7);
    assertThatCode(second::close).doesNotThrowAnyException();
    assertThat(second.segment().scope().isAlive()).isFalse();
  }

  /** Records how long its memory exists. */
  private static final class Recorded implements MemorySource {
    final List<Arena> arenas = new ArrayList<>();

    @Override
    public MemorySegment allocate(Arena arena, long bytes) {
      arenas.add(arena);
      return ANONYMOUS.allocate(arena, bytes);
    }
  }

  @Test
  void memoryOfAClosedPoolIsFreedWithTheLastBuffer() {
    Recorded source = new Recorded();
    BufferPool other = new BufferPool(source);
    Buffer first = other.allocate(64);
    Buffer last = other.allocate(64);

    other.close();
    first.close();
    assertThat(source.arenas).hasSize(2).allMatch(arena -> arena.scope().isAlive());
    last.close();

    assertThat(source.arenas).noneMatch(arena -> arena.scope().isAlive());
  }

  @Test
  void memoryOfAClosedPoolWithoutBuffersIsFreedAtOnce() {
    Recorded source = new Recorded();
    BufferPool other = new BufferPool(source);
    other.allocate(64).close();
    assertThat(source.arenas).hasSize(1).allMatch(arena -> arena.scope().isAlive());

    other.close();

    assertThat(source.arenas).noneMatch(arena -> arena.scope().isAlive());
  }

  @Test
  void closedPoolAllocatesNothing() {
    pool.close();

    assertReason(Reason.CLOSED, () -> pool.allocate(64)).hasMessageContaining("closed");
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE})
  void emptyBufferIsRefused(long bytes) {
    assertReason(Reason.INVALID, () -> pool.allocate(bytes)).hasMessageContaining(bytes + " bytes");
  }

  @ParameterizedTest
  @ValueSource(longs = {1L << 46, Long.MAX_VALUE})
  void bufferBeyondAnyMachinesMemoryNamesTheLimit(long bytes) {
    assertReason(Reason.NO_MEMORY, () -> pool.allocate(bytes))
        .hasMessageContainingAll(bytes + " bytes", "ulimit -v");
  }

  private Buffer underNativeCall;
  private Throwable refusal;

  @SuppressWarnings("unused") // Called by qsort.
  private int compare(MemorySegment a, MemorySegment b) {
    try {
      underNativeCall.close();
    } catch (IllegalStateException e) {
      refusal = e;
    }
    return 0;
  }

  @Test
  @SuppressWarnings("restricted")
  void bufferInUseByNativeCodeCannotBeClosed() throws Throwable {
    underNativeCall = pool.allocate(2);
    Linker linker = Linker.nativeLinker();
    MethodHandle qsort =
        linker.downcallHandle(
            linker.defaultLookup().find("qsort").orElseThrow(),
            FunctionDescriptor.ofVoid(
                ValueLayout.ADDRESS,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.ADDRESS));
    MethodHandle compare =
        MethodHandles.lookup()
            .findVirtual(
                BufferPoolTest.class,
                "compare",
                MethodType.methodType(int.class, MemorySegment.class, MemorySegment.class))
            .bindTo(this);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment callback =
          linker.upcallStub(
              compare,
              FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS),
              arena);
      qsort.invokeExact(underNativeCall.segment(), 2L, 1L, callback);
    }
    assertThat(refusal).isInstanceOf(IllegalStateException.class);
    long address = underNativeCall.segment().address();

    underNativeCall.close();

    assertThat(underNativeCall.segment().scope().isAlive()).isFalse();
    try (Buffer next = pool.allocate(2)) {
      assertThat(next.segment().address()).isEqualTo(address);
    }
  }
}
