package org.hghca.benchmarks;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.hghca.abi.Bar;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaFault;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;

/**
 * A software HCA whose doorbells fall into plain memory, as those of a mapped BAR would: commands
 * work, and work requests go nowhere. What the driver allocates for DMA can be found again, so that
 * a script can complete the requests.
 */
final class BenchFunction implements PciFunction {
  private static BenchFunction last;

  private final PciFunction hca;
  private final Arena arena = Arena.ofShared();
  private final MmioRegion doorbells = MmioRegion.mapped(arena.allocate(Bar.BAR2_SIZE, 4096));
  private final List<MemorySegment> allocations = new ArrayList<>();

  BenchFunction(PciFunction hca) {
    this.hca = hca;
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
  public Locator locator() {
    return hca.locator();
  }

  @Override
  public ConfigurationSpace configuration() {
    return hca.configuration();
  }

  @Override
  public MmioRegion region(int bar) {
    return bar == 2 ? doorbells : hca.region(bar);
  }

  @Override
  public synchronized DmaMapping allocate(long bytes) {
    DmaMapping mapping = hca.allocate(bytes);
    allocations.add(mapping.segment());
    return mapping;
  }

  @Override
  public DmaMapping map(MemorySegment memory, DmaAccess access) {
    return hca.map(memory, access);
  }

  @Override
  public Interrupts interrupts() {
    return hca.interrupts();
  }

  @Override
  public List<DmaFault> dmaFaults() {
    return hca.dmaFaults();
  }

  @Override
  public boolean canReset() {
    return hca.canReset();
  }

  @Override
  public void reset() {
    hca.reset();
  }

  @Override
  public void close() {
    hca.close();
    arena.close();
  }
}
