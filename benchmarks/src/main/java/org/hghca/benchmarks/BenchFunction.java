package org.hghca.benchmarks;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.hghca.abi.Bar;
import org.hghca.abi.Cqe;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.ForwardingFunction;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;

/**
 * A software HCA whose doorbells are plain memory, as those of a mapped BAR: commands work, and
 * work requests are not executed. It records the driver's DMA allocations, so that a script can
 * complete the requests.
 */
final class BenchFunction extends ForwardingFunction {
  private static BenchFunction last;

  private final Arena arena = Arena.ofShared();
  private final MmioRegion doorbells = MmioRegion.mapped(arena.allocate(Bar.BAR2_SIZE, 4096));
  private final List<MemorySegment> allocations = new ArrayList<>();
  private final List<byte[]> marked = new ArrayList<>();

  BenchFunction(PciFunction hca) {
    super(hca);
    last = this;
  }

  /** The function that was opened last. */
  static BenchFunction last() {
    return last;
  }

  /** Records the contents of the DMA memory, for {@link #newRing}. */
  synchronized void mark() {
    marked.clear();
    allocations.forEach(memory -> marked.add(memory.toArray(ValueLayout.JAVA_BYTE)));
  }

  /**
   * The ring of the one completion queue that was created since {@link #mark}: the driver fills a
   * new ring with one byte, wherever in its DMA memory the ring is.
   */
  synchronized MemorySegment newRing() {
    for (int i = 0; i < allocations.size(); i++) {
      MemorySegment memory = allocations.get(i);
      byte[] old = i < marked.size() ? marked.get(i) : new byte[(int) memory.byteSize()];
      int from = 0;
      while (from < old.length && !isNew(memory, old, from)) {
        from++;
      }
      int to = from;
      while (to < old.length && isNew(memory, old, to)) {
        to++;
      }
      if (to - from >= Cqe.SIZE) {
        return memory.asSlice(from, to - from);
      }
    }
    throw new IllegalStateException("no completion ring was made");
  }

  private static boolean isNew(MemorySegment memory, byte[] old, int at) {
    return memory.get(ValueLayout.JAVA_BYTE, at) == (byte) Cqe.SENTINEL
        && old[at] != (byte) Cqe.SENTINEL;
  }

  @Override
  public MmioRegion region(int bar) {
    return bar == 2 ? doorbells : super.region(bar);
  }

  @Override
  public synchronized DmaMapping allocate(long bytes) {
    DmaMapping mapping = super.allocate(bytes);
    allocations.add(mapping.segment());
    return mapping;
  }

  @Override
  public void close() {
    super.close();
    arena.close();
  }
}
