package org.hghca.tools;

import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import org.hghca.vfio.ForwardingFunction;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctionProvider;
import org.hghca.vfio.PciFunctions;

/**
 * Opens software HCAs with slow registers, as those of a device that another process emulates for a
 * virtual machine: {@code slow:NAME?access=PT0.0001S} delays every access by this time, and has
 * otherwise the parameters of {@code model:}.
 */
public final class SlowProvider implements PciFunctionProvider {
  private static final String ACCESS = "access";

  /** Used by the service loader. */
  public SlowProvider() {}

  @Override
  public String scheme() {
    return "slow";
  }

  @Override
  public List<Locator> enumerate() {
    return List.of();
  }

  @Override
  public PciFunction open(Locator locator) {
    SortedMap<String, String> parameters = new TreeMap<>(locator.parameters());
    Duration access = Duration.parse(parameters.getOrDefault(ACCESS, "PT0.0001S"));
    parameters.remove(ACCESS);
    PciFunction fast = PciFunctions.open(new Locator("model", locator.name(), parameters));
    return new ForwardingFunction(fast) {
      @Override
      public Locator locator() {
        return locator;
      }

      @Override
      public MmioRegion region(int bar) {
        return slow(super.region(bar), access.toNanos());
      }
    };
  }

  private static MmioRegion slow(MmioRegion region, long nanos) {
    return MmioRegion.trapped(
        region.size(),
        new MmioHandler() {
          @Override
          public long read(long offset, int width) {
            pass(nanos);
            return width == Long.BYTES ? region.readLong(offset) : region.readInt(offset);
          }

          @Override
          public void write(long offset, int width, long value) {
            pass(nanos);
            if (width == Long.BYTES) {
              region.writeLong(offset, value);
            } else {
              region.writeInt(offset, (int) value);
            }
          }
        });
  }

  private static void pass(long nanos) {
    long end = System.nanoTime() + nanos;
    for (long left = nanos; left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
