package org.hghca.vfio.testing;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaFault;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;

/**
 * A function without any part, for subclasses that add what a test needs: no configuration space,
 * registers, memory, interrupts or reset. Their use throws {@link UnsupportedOperationException}.
 */
public abstract class StubFunction implements PciFunction {

  protected StubFunction() {}

  @Override
  public Locator locator() {
    return Locator.parse("fake:card");
  }

  @Override
  public ConfigurationSpace configuration() {
    throw new UnsupportedOperationException("configuration");
  }

  @Override
  public MmioRegion region(int bar) {
    throw new UnsupportedOperationException("region");
  }

  @Override
  public DmaMapping allocate(long bytes) {
    throw new UnsupportedOperationException("allocate");
  }

  @Override
  public DmaMapping map(MemorySegment memory, DmaAccess access) {
    throw new UnsupportedOperationException("map");
  }

  @Override
  public Interrupts interrupts() {
    throw new UnsupportedOperationException("interrupts");
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
    throw new UnsupportedOperationException("reset");
  }

  @Override
  public void close() {}
}
