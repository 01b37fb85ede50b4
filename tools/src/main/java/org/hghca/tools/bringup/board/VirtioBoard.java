package org.hghca.tools.bringup.board;

import java.util.List;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.StepSkippedException;
import org.hghca.tools.bringup.step.Waits;
import org.hghca.tools.raw.CommandRecord;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.PciIds;
import org.hghca.vfio.VfioException;
import org.hghca.virtio.ControlQueue;
import org.hghca.virtio.VirtioDevice;
import org.hghca.virtio.Virtqueue;
import org.hghca.virtio.abi.CommonConfig;
import org.hghca.virtio.abi.Feature;
import org.hghca.virtio.abi.net.NetFeature;
import org.hghca.virtio.abi.roce.QueuePlan;

/** A virtio network device while it is driven without the driver of the verbs. One thread. */
public final class VirtioBoard implements Target {
  private static final int ENTRIES = 16;
  private static final int CONTROL = 2;
  private static final long WANTED =
      Feature.mask(NetFeature.MAC)
          | Feature.mask(NetFeature.STATUS)
          | Feature.mask(NetFeature.MTU)
          | Feature.mask(NetFeature.CTRL_VQ)
          | Feature.mask(NetFeature.CTRL_RX);

  private final BringupOptions options;
  private final Waits waits = new Waits();
  private PciFunction function;
  private boolean canReset;
  private VirtioDevice device;
  private Virtqueue transmit;
  private ControlQueue control;

  public VirtioBoard(BringupOptions options) {
    this.options = options;
  }

  /** Whether a session is about a virtio device; a function that cannot be opened is none. */
  public static boolean isVirtio(BringupOptions options) {
    try {
      Locator locator = PciFunctions.resolve(Locator.parse(options.device()));
      return PciFunctions.ids(locator).orElseGet(() -> read(locator)).isVirtio();
    } catch (VfioException e) {
      return false; // the step that opens it says why
    }
  }

  private static PciIds read(Locator locator) {
    try (PciFunction function = PciFunctions.open(locator)) {
      return PciIds.of(function.configuration());
    }
  }

  @Override
  public BringupOptions options() {
    return options;
  }

  @Override
  public Waits waits() {
    return waits;
  }

  @Override
  public void open() {
    function = PciFunctions.open(locator());
    canReset = function.canReset();
  }

  @Override
  public boolean canReset() {
    return canReset;
  }

  @Override
  public PciFunction function() {
    return function;
  }

  @Override
  public Abilities abilities() {
    return Abilities.VIRTIO;
  }

  /** None: what a step gave over the control queue, it says itself. */
  @Override
  public List<CommandRecord> takeCommands() {
    return List.of();
  }

  /** Resets the device, and attaches it anew. */
  public VirtioDevice attach() {
    detach();
    device = VirtioDevice.attach(function, org.hghca.virtio.abi.PciIds.NETWORK_TYPE);
    return device;
  }

  /** The attached device. */
  public VirtioDevice device() {
    return device;
  }

  /**
   * Negotiates the features of a network device, and some more.
   *
   * @param required mask of them
   * @return mask of what was negotiated
   */
  public long negotiate(long required) {
    return device.negotiate(required, WANTED);
  }

  /** Sets up the transmit queue and, if there is one, the control queue. */
  public void setUpQueues() {
    transmit = device.queue(QueuePlan.transmit(0), ENTRIES, CommonConfig.NO_VECTOR);
    if (device.has(NetFeature.CTRL_VQ)) {
      Virtqueue queue = device.queue(CONTROL, ENTRIES, CommonConfig.NO_VECTOR);
      control = new ControlQueue(device, queue, options.limit());
    }
  }

  public Virtqueue transmit() {
    return transmit;
  }

  /**
   * The control queue.
   *
   * @throws StepSkippedException when the device has none
   */
  public ControlQueue control() {
    if (control == null) {
      throw Observation.skip("the device has no control queue");
    }
    return control;
  }

  /** Resets the device; it keeps its function. */
  public void detach() {
    if (device != null) {
      VirtioDevice closing = device;
      device = null;
      transmit = null;
      control = null;
      closing.close();
    }
  }

  @Override
  public void close() {
    if (function == null) {
      return;
    }
    PciFunction closing = function;
    function = null;
    try (closing) {
      detach();
    }
  }
}
