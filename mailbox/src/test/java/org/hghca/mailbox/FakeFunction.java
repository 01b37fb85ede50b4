package org.hghca.mailbox;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.testing.StubFunction;
import org.hghca.vfio.testing.StubMapping;

/** A function with one register region; its DMA memory has I/O addresses above 4 GiB. */
final class FakeFunction extends StubFunction {
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
    return new StubMapping(segment, offset -> iova + offset, () -> release(iova));
  }

  private synchronized void release(long iova) {
    memory.remove(iova);
  }

  @Override
  public void close() {
    arena.close();
  }
}
