package org.hghca.benchmarks;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.hghca.abi.Bar;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.ForwardingFunction;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;

/**
 * A software HCA whose doorbells fall into plain memory, as those of a mapped BAR would: commands
 * work, and work requests go nowhere. What the driver allocates for DMA can be found again, so that
 * a script can complete the requests.
 */
final class BenchFunction extends ForwardingFunction {
  private static BenchFunction last;

  private final Arena arena = Arena.ofShared();
  private final MmioRegion doorbells = MmioRegion.mapped(arena.allocate(Bar.BAR2_SIZE, 4096));
  private final List<MemorySegment> allocations = new ArrayList<>();

  BenchFunction(PciFunction hca) {
    super(hca);
    last = this;
  }

  /** The function that was opened last. */
  static BenchFunction last() {
    return last;
  }

  /** The memory that was allocated last. */
  synchronized MemorySegment lastAllocation() {
    return allocations.getLast();
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
