package org.hghca.driver;

import java.lang.foreign.MemorySegment;
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

/** A function of which only the doorbells exist: they are recorded. */
record DoorbellOnlyFunction(List<Long> doorbells) implements PciFunction {

  @Override
  public MmioRegion region(int bar) {
    return MmioRegion.trapped(
        8 << 20,
        new MmioHandler() {
          @Override
          public long read(long offset, int width) {
            throw new AssertionError("doorbells are never read");
          }

          @Override
          public void write(long offset, int width, long value) {
            doorbells.add(value);
          }
        });
  }

  @Override
  public Locator locator() {
    return Locator.parse("doorbells:");
  }

  @Override
  public ConfigurationSpace configuration() {
    throw new UnsupportedOperationException();
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
