package org.hghca.vfio.dma;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaWindow;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory of a file that is truncated while a device accesses it. */
class IommuFileTest {
  private static final int BYTES = 1 << 20;

  /** Enough for the accesses to be compiled. */
  private static final int ACCESSES = 50_000;

  private static final long IOVA = 0x10_0000;

  private final Iommu iommu = new Iommu();

  /** So that the accesses are inlined into a larger compiled method, as in a device. */
  private long succeeded(MemorySegment buffer, int length, int count) {
    long done = 0;
    for (int i = 0; i < count; i++) {
      done += iommu.read(IOVA + i % 100 * 8L, buffer, 0, length) ? 1 : 0;
      done += iommu.write(IOVA + i % 100 * 8L, buffer, 0, length) ? 1 : 0;
    }
    return done;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8, 64, 4096, 65536})
  void everyAccessBeyondTheEndOfAFileIsAFault(int length, @TempDir Path directory)
      throws IOException {
    try (Arena arena = Arena.ofShared();
        FileChannel file =
            FileChannel.open(
                directory.resolve("file"),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
      MemorySegment memory = file.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena);
      MemorySegment buffer = arena.allocate(BYTES);
      iommu.map(new DmaWindow(IOVA, memory, DmaAccess.READ_WRITE));
      int warm = length > 4096 ? ACCESSES / 10 : ACCESSES;
      assertThat(succeeded(buffer, length, warm)).isEqualTo(2L * warm);

      file.truncate(0);

      for (int round = 0; round < 20; round++) {
        assertThat(succeeded(buffer, length, 100)).isZero();
      }
      assertThat(iommu.faultCount()).isEqualTo(4000);
      assertThat(iommu.faults().getLast().cause()).isEqualTo("the memory's file was truncated");

      file.write(ByteBuffer.allocate(1), BYTES - 1);
      assertThat(succeeded(buffer, length, 1)).as("after it has grown again").isEqualTo(2);
    }
  }
}
