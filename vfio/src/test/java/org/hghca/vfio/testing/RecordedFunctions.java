package org.hghca.vfio.testing;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctionProvider;
import org.hghca.vfio.PciIds;
import org.hghca.vfio.inprocess.InProcessFunction;

/**
 * Functions with nothing but ids, which record every access but reads of configuration space:
 * {@code recorded:NAME?vendor=1af4&device=1041}. With {@code known=true} the ids are known before
 * it is opened.
 */
public final class RecordedFunctions implements PciFunctionProvider {
  private static final Map<String, List<String>> CALLS = new ConcurrentHashMap<>();

  /** Used by the service loader. */
  public RecordedFunctions() {}

  /** The accesses to a function so far, oldest first; empty for one that was never opened. */
  public static List<String> calls(String name) {
    return List.copyOf(CALLS.getOrDefault(name, List.of()));
  }

  @Override
  public String scheme() {
    return "recorded";
  }

  @Override
  public List<Locator> enumerate() {
    return List.of();
  }

  @Override
  public Optional<PciIds> ids(Locator locator) {
    return locator.parameter("known").map(known -> given(locator));
  }

  @Override
  public PciFunction open(Locator locator) {
    PciIds ids = given(locator);
    RecordingDevice device =
        new RecordingDevice() {
          @Override
          public int interruptVectors() {
            return 1;
          }

          @Override
          public boolean isInline() {
            return true;
          }
        };
    device.configuration[0] = (byte) ids.vendor();
    device.configuration[1] = (byte) (ids.vendor() >> 8);
    device.configuration[2] = (byte) ids.device();
    device.configuration[3] = (byte) (ids.device() >> 8);
    List<String> calls = CALLS.computeIfAbsent(locator.name(), n -> new CopyOnWriteArrayList<>());
    calls.add("open");
    return InProcessFunction.connect(locator, new Copying(device, calls));
  }

  private static PciIds given(Locator locator) {
    return new PciIds(id(locator, "vendor"), id(locator, "device"));
  }

  private static int id(Locator locator, String key) {
    return Integer.parseInt(locator.parameter(key).orElseThrow(), 16);
  }

  /** Names the calls, over all openings of a function. */
  private static final class Copying extends ForwardingDevice {
    private final List<String> calls;

    Copying(RecordingDevice device, List<String> calls) {
      super(device);
      this.calls = calls;
    }

    @Override
    public long read(int bar, long offset, int width) {
      calls.add("read BAR" + bar);
      return super.read(bar, offset, width);
    }

    @Override
    public void write(int bar, long offset, int width, long value) {
      calls.add("write BAR" + bar);
      super.write(bar, offset, width, value);
    }

    @Override
    public void writeConfiguration(int offset, int width, int value) {
      calls.add("write configuration");
      super.writeConfiguration(offset, width, value);
    }

    @Override
    public void reset() {
      calls.add("reset");
      super.reset();
    }

    @Override
    public void close() {
      calls.add("close");
      super.close();
    }
  }
}
