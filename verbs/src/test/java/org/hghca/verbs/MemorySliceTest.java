package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.verbs.Failures.assertErrno;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class MemorySliceTest {
  private final MemorySegment memory = Arena.ofAuto().allocate(4096, 64);
  private final MemoryRegion region = new FakeRegion(memory, 0x105);

  @Test
  void sliceNamesItsPartOfTheRegion() {
    MemorySlice slice = region.slice(64, 128);
    memory.set(ValueLayout.JAVA_BYTE, 64, (byte) 5);

    assertThat(slice.region()).isSameAs(region);
    assertThat(slice.offset()).isEqualTo(64);
    assertThat(slice.length()).isEqualTo(128);
    assertThat(slice.address()).isEqualTo(memory.address() + 64);
    assertThat(slice.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 5);
    assertThat(slice.remote()).isEqualTo(new RemoteMemory(memory.address() + 64, ~0x105, 128));
    assertThat(region.remote()).isEqualTo(new RemoteMemory(memory.address(), ~0x105, 4096));
  }

  /** Peers count from 0 there, and so do elements. */
  @Test
  void sliceOfAZeroBasedRegionCountsFromZero() {
    MemorySlice slice = new FakeRegion(memory, 0, 4096, 1).slice(100, 8);

    assertThat(slice.address()).isEqualTo(100);
    assertThat(slice.segment().address()).isEqualTo(memory.address() + 100);
  }

  @Test
  void sliceOfASlice() {
    MemorySlice slice = region.slice(64, 128).slice(8, 120);

    assertThat(slice.offset()).isEqualTo(72);
    assertThat(slice.length()).isEqualTo(120);
    assertThat(slice.segment().address()).isEqualTo(memory.address() + 72);
  }

  @Test
  void partsThatReachBeyondAreRefused() {
    assertThatThrownBy(() -> region.slice(4000, 97)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> region.slice(-1, 1)).isInstanceOf(IndexOutOfBoundsException.class);
    // Within the region, but not within the slice.
    assertThatThrownBy(() -> region.slice(64, 128).slice(8, 121))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> new SendRequest().sge(region.slice(64, 128), 129))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void bufferIsTheSameMemoryAndIsCreatedOnce() {
    MemorySlice slice = region.slice(64, 16);
    ByteBuffer buffer = slice.byteBuffer();
    buffer.putInt(0, 0x01020304);

    assertThat(memory.get(ValueLayout.JAVA_BYTE, 64)).isEqualTo((byte) 1);
    assertThat(buffer.isDirect()).isTrue();
    assertThat(buffer.capacity()).isEqualTo(16);
    assertThat(buffer.order()).isEqualTo(ByteOrder.BIG_ENDIAN);
    assertThat(slice.byteBuffer()).isSameAs(buffer);
  }

  @Test
  void manyThreadsGetOneBuffer() throws Exception {
    int threads = 8;
    CyclicBarrier start = new CyclicBarrier(threads);
    MemorySlice slice = region.slice(0, 8);
    try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
      Callable<ByteBuffer> task =
          () -> {
            start.await();
            return slice.byteBuffer();
          };
      List<Future<ByteBuffer>> all = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        all.add(executor.submit(task));
      }
      for (Future<ByteBuffer> one : all) {
        assertThat(one.get()).isSameAs(slice.byteBuffer());
      }
    }
  }

  @Test
  @SuppressWarnings("restricted")
  void sliceTooLongForABufferIsReported() {
    long length = 1L << 31;
    MemorySegment large = MemorySegment.ofAddress(4096).reinterpret(length);
    MemorySlice slice = new FakeRegion(large, 1).slice(0, length);

    assertErrno(Errno.EINVAL, slice::byteBuffer).hasMessageContaining("2147483648 bytes");
  }

  @Test
  void requestsTakeSlices() {
    MemorySlice slice = region.slice(64, 128);
    SendRequest send = new SendRequest().send().sge(slice).sge(slice, 8);
    ReceiveRequest receive = new ReceiveRequest().into(slice);

    assertThat(send.sgeCount()).isEqualTo(2);
    assertThat(send.sgeAddress(0)).isEqualTo(memory.address() + 64);
    assertThat(send.sgeLength(0)).isEqualTo(128);
    assertThat(send.sgeLkey(0)).isEqualTo(0x105);
    assertThat(send.sgeLength(1)).isEqualTo(8);
    assertThat(receive.sgeAddress(0)).isEqualTo(memory.address() + 64);
    assertThat(receive.sgeLength(0)).isEqualTo(128);
  }
}
