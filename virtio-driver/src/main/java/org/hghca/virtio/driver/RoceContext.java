package org.hghca.virtio.driver;

import static org.hghca.verbs.FeatureSupport.MISSING;
import static org.hghca.verbs.FeatureSupport.NATIVE;
import static org.hghca.verbs.FeatureSupport.SOFTWARE;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import org.hghca.provider.object.AbstractContext;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.DeviceQuirk;
import org.hghca.verbs.Errno;
import org.hghca.verbs.FeatureSupport;
import org.hghca.verbs.PortAttributes;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.VerbsException;
import org.hghca.virtio.NetworkDevice;

/** One opening of a device. */
final class RoceContext extends AbstractContext implements VirtioContext {
  /** What the dialect has no command or no number for. */
  private static final Set<DeviceFeature> MISSED =
      EnumSet.of(
          DeviceFeature.ATOMICS,
          DeviceFeature.RESIZE_CQ,
          DeviceFeature.REREGISTRATION,
          DeviceFeature.MEMORY_WINDOWS,
          DeviceFeature.PATH_MIGRATION,
          DeviceFeature.MULTICAST,
          DeviceFeature.ON_DEMAND_PAGING);

  private final RoceDevice device;
  private final RocePort port;

  /**
   * Opens a context.
   *
   * @param onClose releases the device
   */
  RoceContext(RdmaDevice name, RoceDevice device, Runnable onClose) {
    super(name, device, onClose);
    this.device = device;
    this.port = new RocePort(name.name(), device);
    open();
  }

  RoceDevice roce() {
    return device;
  }

  @Override
  public NetworkDevice network() {
    check();
    return NetworkDevice.of(device.virtio());
  }

  @Override
  public RoceInformation information() {
    check();
    return device.information();
  }

  @Override
  protected RocePort port() {
    return port;
  }

  @Override
  public DeviceAttributes queryDevice() {
    check();
    Limits limits = device.limits();
    return baseAttributes()
        .hardwareVersion(limits.hardwareVersion())
        .physicalPorts(1)
        .maxMrSize(limits.maxMrSize() < 0 ? Long.MAX_VALUE : limits.maxMrSize())
        .maxQp(limits.maxQp())
        .maxQpWr(limits.maxQpWr())
        .maxSge(Math.min(limits.maxSendSge(), limits.maxReceiveSge()))
        .maxSgeRead(limits.maxSgeRead())
        .maxCq(limits.maxCq())
        .maxCqe(limits.maxCqe())
        .maxMr(limits.maxMr())
        .maxPd(limits.maxPd())
        .maxQpReadAtomic(limits.readsAnswered())
        .maxReadAtomic(limits.readsAnswered() * limits.maxQp())
        .maxQpInitiatorReadAtomic(limits.readsOutstanding())
        .maxSrq(limits.maxQp())
        .localAckDelay(limits.ackDelay())
        .maxInline(Limits.MAX_INLINE)
        .completionVectors(device.events().completionVectors())
        .features(features(device.events().polls()))
        .quirks(EnumSet.of(DeviceQuirk.NO_CARD_EVENTS))
        .build();
  }

  private static Map<DeviceFeature, FeatureSupport> features(boolean polls) {
    Map<DeviceFeature, FeatureSupport> features = new EnumMap<>(DeviceFeature.class);
    for (DeviceFeature feature : DeviceFeature.values()) {
      features.put(feature, MISSED.contains(feature) ? MISSING : NATIVE);
    }
    features.put(DeviceFeature.SHARED_RECEIVE_QUEUES, SOFTWARE);
    if (polls) {
      features.put(DeviceFeature.COMPLETION_EVENTS, SOFTWARE);
      features.put(DeviceFeature.SOLICITED_ONLY, MISSING);
    }
    return features;
  }

  @Override
  public PortAttributes queryPort(int number) {
    check();
    return port.attributes(number);
  }

  // ---- for shared receive queues

  @Override
  public int maxSrqWr() {
    return device.limits().maxQpWr();
  }

  @Override
  public int maxSrqSge() {
    return device.limits().maxReceiveSge();
  }

  @Override
  protected long commandsGiven() {
    return device.commands().given();
  }

  @Override
  public long[] interrupts() {
    check();
    return device.events().polls() ? new long[0] : device.function().interrupts().counts();
  }

  @Override
  public OptionalInt interruptOf(int completionVector) {
    check();
    int count = device.events().completionVectors();
    if (completionVector < 0 || completionVector >= count) {
      throw new VerbsException(
          Errno.EINVAL,
          "completion vector %d: the device has %d".formatted(completionVector, count));
    }
    return device.events().polls()
        ? OptionalInt.empty()
        : OptionalInt.of(device.events().interrupt(completionVector));
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    check();
    return new RoceProtectionDomain(this);
  }

  @Override
  public CompletionQueue createCompletionQueue(CompletionQueueConfig config) {
    check();
    return new RoceCompletionQueue(this, config);
  }
}
