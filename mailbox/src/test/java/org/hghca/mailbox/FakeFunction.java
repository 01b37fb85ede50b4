package org.hghca.mailbox;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaFault;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;

/** A function with one register region; its DMA memory has I/O addresses above 4 GiB. */
final class FakeFunction implements PciFunction {
  private final Arena arena = Arena.ofShared();
  private final NavigableMap<Long, MemorySegment> memory = new TreeMap<>();
  private final MmioRegion bar0;
  private long nextIova = 0x12_3456_7000L;
  private int allocations;

  FakeFunction(long size, MmioHandler handler) {
    bar0 = MmioRegion.trapped(size, handler);
  }

  /** The memory from an I/O address on. */
  synchronized MemorySegment at(long iova) {
    var entry = memory.floorEntry(iova);
    if (entry == null || iova - entry.getKey() >= entry.getValue().byteSize()) {
      throw new IllegalStateException("nothing is mapped at 0x%x".formatted(iova));
    }
    return entry.getValue().asSlice(iova - entry.getKey());
  }

  synchronized int mappings() {
    return memory.size();
  }

  synchronized int allocations() {
    return allocations;
  }

  @Override
  public Locator locator() {
    return Locator.parse("fake:card");
  }

  @Override
  public MmioRegion region(int bar) {
    if (bar != 0) {
      throw new IllegalArgumentException("no BAR" + bar);
    }
    return bar0;
  }

  @Override
  public synchronized DmaMapping allocate(long bytes) {
    MemorySegment segment = arena.allocate(bytes, DmaMapping.PAGE_SIZE);
    long iova = nextIova;
    nextIova += bytes + DmaMapping.PAGE_SIZE;
    memory.put(iova, segment);
    allocations++;
    return new DmaMapping() {
      @Override
      public MemorySegment segment() {
        return segment;
      }

      @Override
      public long iova(long offset) {
        return iova + offset;
      }

      @Override
      public DmaAccess access() {
        return DmaAccess.READ_WRITE;
      }

      @Override
      public void close() {
        synchronized (FakeFunction.this) {
          memory.remove(iova);
        }
      }
    };
  }

  @Override
  public DmaMapping map(MemorySegment segment, DmaAccess access) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ConfigurationSpace configuration() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Interrupts interrupts() {
    throw new UnsupportedOperationException();
  }

  @Override
  public List<DmaFault> dmaFaults() {
    return List.of();
  }

  @Override
  public boolean canReset() {
    return false;
  }

  @Override
  public void reset() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {
    arena.close();
  }
}
