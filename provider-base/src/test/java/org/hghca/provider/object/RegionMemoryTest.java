package org.hghca.provider.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.memory.BufferPool;
import org.hghca.vfio.testing.StubFunction;
import org.junit.jupiter.api.Test;

/** How the memory of a region is mapped for its device. */
class RegionMemoryTest {
  private final List<String> calls = new ArrayList<>();
  private final StubFunction function =
      new StubFunction() {
        @Override
        public DmaMapping map(MemorySegment memory, DmaAccess access) {
          calls.add("map");
          return null;
        }

        @Override
        public DmaMapping mapOwned(MemorySegment memory, DmaAccess access) {
          calls.add("mapOwned " + access + " " + memory.byteSize());
          return null;
        }

        @Override
        public void checkPresent(MemorySegment memory, DmaAccess access) {
          calls.add("checkPresent");
        }
      };

  @Test
  void aBufferOfTheDriverIsThereUntilItIsUnmapped() {
    try (BufferPool pool = new BufferPool(function.memory());
        BufferPool.Buffer buffer = pool.allocate(8192)) {
      RegionMemory memory = RegionMemory.of(function, buffer);
      DmaMapping _ = memory.map(buffer.segment(), DmaAccess.READ_WRITE);
      DmaMapping _ = memory.map(buffer.segment().asSlice(4096), DmaAccess.READ);
    }
    assertThat(calls).containsExactly("mapOwned READ_WRITE 8192", "mapOwned READ 4096");
  }

  /** It may be that of a file, which somebody truncates, or of an arena that is closed. */
  @Test
  void memoryOfTheApplicationMayEndAtAnyTime() {
    try (Arena arena = Arena.ofShared()) {
      DmaMapping _ = RegionMemory.ofApplication(function).map(arena.allocate(4096), DmaAccess.READ);
    }
    assertThat(calls).containsExactly("checkPresent", "map");
  }
}
