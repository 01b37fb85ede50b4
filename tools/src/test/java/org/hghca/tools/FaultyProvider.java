package org.hghca.tools;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Locale;
import org.hghca.model.ModelProvider;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.EmulatedFunction;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctionProvider;
import org.hghca.vfio.inprocess.InProcessFunction;
import org.hghca.vfio.testing.ForwardingDevice;

/** Opens faulty boards: {@code faulty:FAULT}, software HCAs with a {@link Fault}. */
public final class FaultyProvider implements PciFunctionProvider {

  @Override
  public String scheme() {
    return "faulty";
  }

  @Override
  public List<Locator> enumerate() {
    return List.of();
  }

  @Override
  public PciFunction open(Locator locator) {
    Fault fault = Fault.valueOf(locator.name().toUpperCase(Locale.ROOT).replace('-', '_'));
    fault.inits = 0;
    fault.hung = 0;
    Locator model = new Locator("model", locator.name(), locator.parameters());
    return fault.opened(
        InProcessFunction.connect(locator, new Board(ModelProvider.plugIn(model), fault)));
  }

  /** A software HCA behind its fault. */
  private static final class Board extends ForwardingDevice {
    /** Bytes of a completion queue of 32 entries. */
    private static final long RING = 1024;

    private final Fault fault;

    Board(EmulatedFunction hca, Fault fault) {
      super(hca);
      this.fault = fault;
    }

    @Override
    public void attach(DeviceBus bus) {
      super.attach(
          new DeviceBus() {
            @Override
            public boolean read(long iova, MemorySegment to, long offset, long length) {
              return bus.read(iova, to, offset, length);
            }

            @Override
            public boolean write(long iova, MemorySegment from, long offset, long length) {
              byte[] bytes = from.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
              fault.answer(bytes);
              try (Arena arena = Arena.ofConfined()) {
                MemorySegment changed = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
                boolean written = true;
                int times = fault.times(bytes);
                for (int i = 0; i < times; i++) {
                  long entry = (iova & -RING) + (iova + i * length) % RING;
                  written &= bus.write(i == 0 ? iova : entry, changed, 0, length);
                }
                return written;
              }
            }

            @Override
            public void raise(int vector) {
              bus.raise(vector);
            }
          });
    }

    @Override
    public void reset() {
      fault.reset();
      super.reset();
    }

    @Override
    public long read(int bar, long offset, int width) {
      return fault.read(bar, offset, super.read(bar, offset, width));
    }

    @Override
    public int readConfiguration(int offset, int width) {
      return fault.configuration(super.readConfiguration(offset, width))
          & (int) (-1L >>> Long.SIZE - Byte.SIZE * width);
    }

    @Override
    public void write(int bar, long offset, int width, long value) {
      if (fault.write(bar, offset, value)) {
        super.write(bar, offset, width, value);
      }
    }
  }
}
