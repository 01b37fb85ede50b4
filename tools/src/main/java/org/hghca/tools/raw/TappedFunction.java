package org.hghca.tools.raw;

import java.util.List;
import java.util.Optional;
import org.hghca.abi.Bar;
import org.hghca.uar.DoorbellRecord;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.ForwardingFunction;
import org.hghca.vfio.ForwardingMapping;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.trace.DeviceTrace;

/**
 * A function whose commands are recorded by a {@link CommandTap}, whose BAR2 cannot be read, and
 * whose doorbells are in its trace.
 */
public final class TappedFunction extends ForwardingFunction {
  private final Optional<DeviceTrace> trace;
  private CommandTap tap;

  /** A function that nothing else drives. */
  public TappedFunction(PciFunction function) {
    super(function);
    trace = function.trace();
  }

  /** What is in front of BAR0. */
  public synchronized CommandTap tap() {
    if (tap == null) {
      tap = new CommandTap(super.region(Bar.BAR0));
    }
    return tap;
  }

  /** The commands given since the last call. */
  public synchronized List<CommandRecord> commands() {
    return tap == null ? List.of() : tap.take();
  }

  @Override
  public MmioRegion region(int bar) {
    return switch (bar) {
      case Bar.BAR0 -> tap().region();
      case Bar.BAR2 -> writeOnly(super.region(bar));
      default -> super.region(bar);
    };
  }

  private MmioRegion writeOnly(MmioRegion region) {
    return MmioRegion.trapped(
        region.size(),
        new MmioHandler() {
          @Override
          public long read(long offset, int width) {
            throw new IllegalStateException("BAR2 is never read: the card does not answer");
          }

          @Override
          public void write(long offset, int width, long value) {
            trace.ifPresent(known -> DoorbellRecord.record(known, offset, value));
            if (width == Long.BYTES) {
              region.writeLong(offset, value);
            } else {
              region.writeInt(offset, (int) value);
            }
          }
        });
  }

  @Override
  public DmaMapping allocate(long bytes) {
    DmaMapping mapping = super.allocate(bytes);
    CommandTap at = tap();
    DmaMapping known =
        new ForwardingMapping(mapping) {
          @Override
          public void close() {
            at.remove(this);
            super.close();
          }
        };
    at.add(known);
    return known;
  }
}
