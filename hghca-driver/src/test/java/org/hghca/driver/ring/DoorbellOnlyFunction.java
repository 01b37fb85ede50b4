package org.hghca.driver.ring;

import java.util.List;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.testing.StubFunction;

/** A function of which only the doorbells exist: they are recorded. */
public final class DoorbellOnlyFunction extends StubFunction {
  private final List<Long> doorbells;

  /**
   * A function.
   *
   * @param doorbells where doorbells are added, oldest first
   */
  public DoorbellOnlyFunction(List<Long> doorbells) {
    this.doorbells = doorbells;
  }

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
}
