package org.hghca.tools;

import java.util.List;
import org.hghca.model.VirtioProvider;
import org.hghca.vfio.EmulatedFunction;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctionProvider;
import org.hghca.vfio.inprocess.InProcessFunction;
import org.hghca.vfio.testing.ForwardingDevice;
import org.hghca.virtio.abi.CommonConfig;
import org.hghca.virtio.abi.DeviceStatus;
import org.hghca.virtio.abi.Feature;

/** Opens {@code faulty-virtio:FAULT}: virtio network cards that break the specification. */
public final class FaultyVirtioProvider implements PciFunctionProvider {
  private static final long NOTIFICATIONS = 0x3000;

  @Override
  public String scheme() {
    return "faulty-virtio";
  }

  @Override
  public List<Locator> enumerate() {
    return List.of();
  }

  @Override
  public PciFunction open(Locator locator) {
    Locator card = new Locator("virtio", "faulty-" + locator.name(), locator.parameters());
    return InProcessFunction.connect(
        locator, new Card(VirtioProvider.plugIn(card), locator.name()));
  }

  private static final class Card extends ForwardingDevice {
    private final String fault;
    private long word;

    Card(EmulatedFunction card, String fault) {
      super(card);
      this.fault = fault;
    }

    @Override
    public long read(int bar, long offset, int width) {
      long honest = super.read(bar, offset, width);
      if (bar != 0) {
        return honest;
      }
      return switch (fault) {
        case "bypasses" ->
            offset == CommonConfig.DEVICE_FEATURE.offset() && word == 1
                ? honest & ~(Feature.mask(Feature.ACCESS_PLATFORM) >>> Integer.SIZE)
                : honest;
        case "refuses" ->
            offset == CommonConfig.DEVICE_STATUS.offset()
                ? honest & ~DeviceStatus.FEATURES_OK
                : honest;
        case "odd" -> offset == CommonConfig.QUEUE_SIZE.offset() ? 3 : honest;
        default -> honest;
      };
    }

    @Override
    public void write(int bar, long offset, int width, long value) {
      if (bar == 0 && offset == CommonConfig.DEVICE_FEATURE_SELECT.offset()) {
        word = value;
      }
      if (!(fault.equals("deaf") && bar == 0 && offset >= NOTIFICATIONS)) {
        super.write(bar, offset, width, value);
      }
    }
  }
}
