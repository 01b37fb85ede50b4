package org.hghca.provider.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.junit.jupiter.api.Test;

public class RingSlabsTest {
  private static final long IOVA = 0x4000_0000L;
  private static final int SLAB = 1 << 20;

  private final List<Memory> mapped = new ArrayList<>();
  private final RingSlabs<Memory> slabs = new RingSlabs<>(this::map, 4096, true);

  private final class Memory implements RingSlabs.Backing, DmaMapping {
    private final MemorySegment segment;

    Memory(long bytes) {
      this.segment = Arena.ofAuto().allocate(bytes, 4096);
    }

    @Override
    public DmaMapping mapping() {
      return this;
    }

    @Override
    public MemorySegment segment() {
      return segment;
    }

    @Override
    public long iova(long offset) {
      return IOVA + offset;
    }

    @Override
    public DmaAccess access() {
      return DmaAccess.READ_WRITE;
    }

    @Override
    public void close() {
      assertThat(mapped.remove(this)).isTrue();
    }
  }

  private Memory map(long bytes) {
    mapped.add(new Memory(bytes));
    return mapped.getLast();
  }

  @Test
  public void manyRingsShareOneMapping() {
    List<DmaMapping> pieces = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      pieces.add(slabs.allocate(4096));
    }
    assertThat(mapped).hasSize(1);
    assertThat(pieces.stream().map(piece -> piece.iova(0)).distinct()).hasSize(8);
    assertThat(pieces.get(1).iova(64)).isEqualTo(IOVA + 4096 + 64);
    slabs.allocate(1);
    assertThat(mapped).hasSize(2);
  }

  @Test
  public void slabsGrowWithTheNumberOfRings() {
    for (int i = 0; i < 3 * SLAB / 8192; i++) {
      slabs.allocate(8192);
    }
    assertThat(mapped)
        .extracting(slab -> slab.segment().byteSize() / 1024)
        .containsExactly(32L, 64L, 128L, 256L, 512L, 1024L, 1024L, 1024L);
  }

  @Test
  public void firstSlabHasRoomForTwoOfItsRings() {
    slabs.allocate(100 * 1024);
    slabs.allocate(100 * 1024);
    assertThat(mapped).hasSize(1);
  }

  /** 128 sends and 128 receives: a connection costs one mapping, not two. */
  @Test
  public void firstSlabHoldsTheRingsOfADefaultConnection() {
    slabs.allocate(128 * 64);
    slabs.allocate(256 * 64);
    assertThat(mapped).hasSize(1);
  }

  @Test
  public void longRingHasASlabOfItsOwn() {
    slabs.allocate(4096);
    DmaMapping ring = slabs.allocate(SLAB);
    assertThat(mapped).hasSize(2);
    assertThat(mapped.getLast().segment().byteSize()).isEqualTo(SLAB);
    DmaMapping longer = slabs.allocate(3 * SLAB + 1);
    assertThat(mapped).hasSize(3);
    assertThat(longer.segment().byteSize()).isEqualTo(3 * SLAB + 1);
    longer.close();
    ring.close();
    assertThat(mapped).as("one that is empty is kept").hasSize(2);
  }

  @Test
  public void reusedPieceIsZeroed() {
    DmaMapping ring = slabs.allocate(4096);
    ring.segment().fill((byte) 0x5a);
    ring.close();
    ring.close();
    assertThat(mapped).hasSize(1);
    DmaMapping next = slabs.allocate(8192);
    assertThat(next.iova(0)).isEqualTo(IOVA);
    assertThat(next.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
  }

  @Test
  public void ownerMayHaveNoneKept() {
    RingSlabs<Memory> all = new RingSlabs<>(this::map, 4096, false);
    DmaMapping one = all.allocate(4096);
    DmaMapping two = all.allocate(4096);
    one.close();
    assertThat(mapped).hasSize(1);
    two.close();
    assertThat(mapped).isEmpty();
  }

  @Test
  public void slabsAreFreedWithTheirLastPiece() {
    List<DmaMapping> pieces = new ArrayList<>();
    for (int i = 0; i < 5 * SLAB / 4096; i++) {
      pieces.add(slabs.allocate(4096));
    }
    assertThat(mapped).hasSize(10);
    DmaMapping last = pieces.removeLast();
    pieces.forEach(DmaMapping::close);
    assertThat(mapped).as("the last piece's, and an empty one").hasSize(2);
    slabs.close();
    assertThat(mapped).hasSize(1);
    last.close();
    assertThat(mapped).isEmpty();
  }
}
