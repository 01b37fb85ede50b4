package org.hghca.uar;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaFault;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;

/** A function with only a BAR2, which records every access to it. */
final class FakeFunction implements PciFunction {
  record Access(boolean write, long offset, int width, long value) {}

  final List<Access> accesses = Collections.synchronizedList(new ArrayList<>());
  private final long size;

  FakeFunction(long size) {
    this.size = size;
  }

  @Override
  public Locator locator() {
    return Locator.parse("fake:card");
  }

  @Override
  public MmioRegion region(int bar) {
    if (bar != 2) {
      throw new IllegalArgumentException("no BAR" + bar);
    }
    return MmioRegion.trapped(
        size,
        new MmioHandler() {
          @Override
          public long read(long offset, int width) {
            accesses.add(new Access(false, offset, width, 0));
            return -1;
          }

          @Override
          public void write(long offset, int width, long value) {
            accesses.add(new Access(true, offset, width, value));
          }
        });
  }

  @Override
  public DmaMapping allocate(long bytes) {
    throw new UnsupportedOperationException();
  }

  @Override
  public DmaMapping map(MemorySegment memory, DmaAccess access) {
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
  public void close() {}
}
