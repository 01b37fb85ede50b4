package org.hghca.model.virtio;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.model.EmptyHost;
import org.hghca.model.card.Faults;
import org.hghca.model.card.HostMemory;
import org.hghca.model.transport.MemoryAccess;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaWindow;
import org.hghca.wire.MemoryPieces;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where the bytes of a region lie, for packets that pass as one. */
class RoceMemoryTest {
  private static final int PAGE = 4096;
  private static final int KEY = 0x500;
  private static final int PD = 3;
  private static final long START = 0x7000_0123L;
  private static final long LENGTH = 4 * PAGE - 0x200;

  /** Two mappings that follow each other on the bus; the second one cannot be written. */
  private final MemorySegment first = filled(0);

  private final MemorySegment second = filled(1);
  private final DmaWindow writable = new DmaWindow(0x10_0000, first, DmaAccess.READ_WRITE);
  private final DmaWindow readOnly = new DmaWindow(0x10_0000 + 3 * PAGE, second, DmaAccess.READ);
  private final HostMemory host = new HostMemory(new Faults(), () -> {});
  private final RoceObjects objects = new RoceObjects();
  private final RoceMemory memory = new RoceMemory(host, objects);
  private boolean hasWindows = true;

  RoceMemoryTest() {
    host.attach(new Bus());
    host.enable(true);
    // The third page is before the others, the fourth one is in the other mapping.
    long[] pages = {0x10_1000, 0x10_2000, 0x10_0000, 0x10_3000};
    objects.regions.put(5, new RoceRegion(PD, 7, START, LENGTH, pages, KEY, KEY));
  }

  private static MemorySegment filled(int salt) {
    MemorySegment memory = Arena.ofAuto().allocate(3 * PAGE, 8);
    for (int i = 0; i < 3 * PAGE; i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + (i >> 8) + salt * 77));
    }
    return memory;
  }

  private final class Bus extends EmptyHost {
    @Override
    public boolean read(long iova, MemorySegment destination, long offset, long length) {
      window(iova).read(iova, destination, offset, length);
      return true;
    }

    @Override
    public long beginRun() {
      return hasWindows ? 1 : NO_WINDOWS;
    }

    @Override
    public DmaWindow window(long iova) {
      return writable.holds(iova, 1) ? writable : readOnly;
    }
  }

  private boolean locate(int key, int pd, long offset, int length, MemoryAccess access) {
    return locate(key, pd, offset, length, access, new MemoryPieces());
  }

  private boolean locate(
      int key, int pd, long offset, int length, MemoryAccess access, MemoryPieces into) {
    host.beginStep();
    try {
      return memory.locate(key, pd, START + offset, access, length, into);
    } finally {
      host.endStep();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0, 1",
    "0, 15872",
    "100, 8000",
    "8000, 500",
    "12000, 3000",
    "15871, 1",
    "3805, 4096"
  })
  void piecesHaveTheBytesThatAReadHas(long offset, int length) {
    MemorySegment read = Arena.ofAuto().allocate(length);
    MemorySegment copied = Arena.ofAuto().allocate(length);
    memory.read(KEY, PD, START + offset, MemoryAccess.LOCAL_READ, read, 0, length);
    MemoryPieces found = new MemoryPieces();
    MemoryPieces target = new MemoryPieces();
    target.add(copied, 0, length, MemoryPieces.Kind.MAY_END);

    assertThat(locate(KEY, PD, offset, length, MemoryAccess.LOCAL_READ, found)).isTrue();
    found.copyTo(target);
    assertThat(copied.mismatch(read)).isEqualTo(-1);
  }

  @Test
  void nothingIsFoundWithoutRights() {
    assertThat(locate(KEY + 1, PD, 0, 1, MemoryAccess.LOCAL_READ)).as("key").isFalse();
    assertThat(locate(KEY, PD + 1, 0, 1, MemoryAccess.LOCAL_READ)).as("PD").isFalse();
    assertThat(locate(KEY, PD, LENGTH - 1, 2, MemoryAccess.LOCAL_READ)).as("end").isFalse();
    assertThat(locate(KEY, PD, -1, 2, MemoryAccess.LOCAL_READ)).as("beginning").isFalse();
    assertThat(locate(KEY, PD, 0, 8, MemoryAccess.REMOTE_ATOMIC)).as("atomic").isFalse();
  }

  @Test
  void memoryThatCannotBeWrittenIsFoundForReadsOnly() {
    assertThat(locate(KEY, PD, 0, 11990, MemoryAccess.REMOTE_WRITE)).isTrue();
    assertThat(locate(KEY, PD, 0, 11990, MemoryAccess.LOCAL_WRITE)).isTrue();
    assertThat(locate(KEY, PD, 12000, 10, MemoryAccess.REMOTE_READ)).isTrue();
    assertThat(locate(KEY, PD, 12000, 10, MemoryAccess.REMOTE_WRITE)).isFalse();
    assertThat(locate(KEY, PD, 12000, 10, MemoryAccess.LOCAL_WRITE)).isFalse();
  }

  @Test
  void aRegionThatIsGoneIsNotFound() {
    assertThat(locate(KEY, PD, 0, 8000, MemoryAccess.LOCAL_READ)).isTrue();
    objects.regions.remove(5);
    assertThat(locate(KEY, PD, 0, 8000, MemoryAccess.LOCAL_READ)).isFalse();
  }

  @Test
  void aBusWithoutWindowsLocatesNothing() {
    hasWindows = false;
    assertThat(locate(KEY, PD, 0, 1, MemoryAccess.LOCAL_READ)).isFalse();
  }
}
