package org.hghca.benchmarks;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.abi.Bar;
import org.hghca.linux.Linux;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.linux.MemoryFile;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * A doorbell through a mapped region compared with plain stores of 8 bytes: the driver's share of
 * the cost. The region is memory that is mapped shared, as a BAR is.
 */
@Fork(2)
public class DoorbellWrite extends TimedPath {
  private static final long OFFSET = 0x18;

  private final long[] array = new long[512];
  private Arena arena;
  private MemorySegment memory;
  private MmioRegion region;
  private long value;

  @Setup(Level.Trial)
  public void map() {
    arena = Arena.ofShared();
    memory = new MemoryFile(Linux.system()).allocate(arena, Bar.BAR2_SIZE);
    region = MmioRegion.mapped(memory);
  }

  @TearDown(Level.Trial)
  public void unmap() {
    arena.close();
  }

  @Benchmark
  public void mappedRegion() {
    region.writeLong(OFFSET, value++);
  }

  @Benchmark
  public void plainStoreToMappedMemory() {
    memory.set(ValueLayout.JAVA_LONG, OFFSET, value++);
  }

  @Benchmark
  public void plainStoreToArray() {
    array[3] = value++;
  }
}
