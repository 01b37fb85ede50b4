package org.hghca.virtio.driver;

import static org.hghca.verbs.FeatureSupport.MISSING;
import static org.hghca.verbs.FeatureSupport.NATIVE;
import static org.hghca.verbs.FeatureSupport.SOFTWARE;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.provider.ContextCounters;
import org.hghca.provider.ContextMonitor;
import org.hghca.provider.EventChannel;
import org.hghca.provider.Health;
import org.hghca.provider.Resource;
import org.hghca.provider.ResourceEvent;
import org.hghca.provider.ResourceEvents;
import org.hghca.provider.Undo;
import org.hghca.provider.srq.SharingContext;
import org.hghca.provider.srq.SrqRefill;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.AsyncEvents;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Counters;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.DeviceQuirk;
import org.hghca.verbs.Errno;
import org.hghca.verbs.FeatureSupport;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.PortAttributes;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RoceEntropy;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.virtio.NetworkDevice;
import org.hghca.virtio.abi.roce.RegisterUserMr;

/** One opening of a device. */
final class RoceContext extends Resource implements VirtioContext, SharingContext {
  /** What the dialect has no command or no number for. */
  private static final Set<DeviceFeature> MISSED =
      EnumSet.of(
          DeviceFeature.ATOMICS,
          DeviceFeature.RESIZE_CQ,
          DeviceFeature.MEMORY_WINDOWS,
          DeviceFeature.PATH_MIGRATION,
          DeviceFeature.MULTICAST,
          DeviceFeature.ON_DEMAND_PAGING);

  private final RdmaDevice name;
  private final RoceDevice device;
  private final Runnable onClose;
  private final RocePort port;
  private final ResourceEvents asyncEvents;
  private final ContextCounters counters = new ContextCounters();
  private final Set<EventChannel> channels = ConcurrentHashMap.newKeySet();
  private final ContextMonitor monitor;
  private volatile RoceEntropy entropy = RoceEntropy.V2;

  /**
   * Opens a context.
   *
   * @param onClose releases the device
   */
  RoceContext(RdmaDevice name, RoceDevice device, Runnable onClose) {
    this.name = new RdmaDevice(name.name(), name.locator(), Gid.eui64(device.address().mac()));
    this.device = device;
    this.onClose = onClose;
    this.asyncEvents = new ResourceEvents(name.name());
    this.port = new RocePort(name.name(), device);
    try (Undo undo = new Undo()) {
      device.contexts().add(this);
      undo.add(() -> device.contexts().remove(this));
      // From here on the context is notified if the device fails.
      device.health().check();
      this.monitor = ContextMonitor.open(name.name(), this::sum);
      undo.forget();
    }
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

  RocePort port() {
    return port;
  }

  @Override
  public String describe() {
    return name.name();
  }

  @Override
  public RdmaDevice device() {
    return name;
  }

  /** Whether it is open, and its device works. */
  void check() {
    checkOpen();
    device.health().check();
  }

  @Override
  public DeviceAttributes queryDevice() {
    check();
    Limits limits = device.limits();
    ConfigurationSpace configuration = device.function().configuration();
    return DeviceAttributes.builder()
        .nodeGuid(name.nodeGuid())
        .systemImageGuid(name.nodeGuid())
        .vendorId(configuration.vendorId())
        .vendorPartId(configuration.deviceId())
        .hardwareVersion(limits.hardwareVersion())
        .physicalPorts(1)
        .maxMrSize(limits.maxMrSize() < 0 ? Long.MAX_VALUE : limits.maxMrSize())
        .pageSizes(RegisterUserMr.PAGE_SIZE)
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
        .maxSrqWr(maxSrqWr())
        .maxSrqSge(maxSrqSge())
        .maxPkeys(1)
        .localAckDelay(limits.ackDelay())
        .maxInline(Limits.MAX_INLINE)
        .completionVectors(device.events().completionVectors())
        .features(features())
        .quirks(EnumSet.of(DeviceQuirk.NO_CARD_EVENTS))
        .build();
  }

  private static Map<DeviceFeature, FeatureSupport> features() {
    Map<DeviceFeature, FeatureSupport> features = new EnumMap<>(DeviceFeature.class);
    for (DeviceFeature feature : DeviceFeature.values()) {
      features.put(feature, MISSED.contains(feature) ? MISSING : NATIVE);
    }
    features.put(DeviceFeature.SHARED_RECEIVE_QUEUES, SOFTWARE);
    return features;
  }

  @Override
  public PortAttributes queryPort(int number) {
    check();
    return port.attributes(number);
  }

  @Override
  public Gid queryGid(int number, int index) {
    check();
    return port.gid(number, index);
  }

  @Override
  public List<GidEntry> queryGidTable() {
    check();
    return port.gidTable();
  }

  @Override
  public int queryPkey(int number, int index) {
    check();
    return port.pkey(number, index);
  }

  @Override
  public int pkeyIndex(int number, int pkey) {
    check();
    return port.pkeyIndex(number, pkey);
  }

  @Override
  public void addNeighbor(Gid gid, long mac) {
    check();
    device.neighbors().add(gid, mac);
  }

  @Override
  public RoceEntropy entropy() {
    return entropy;
  }

  @Override
  public void entropy(RoceEntropy entropy) {
    this.entropy = Objects.requireNonNull(entropy);
  }

  @Override
  public CompletionChannel createCompletionChannel() {
    check();
    EventChannel channel = new EventChannel(this, device.health(), counters, channels::remove);
    channels.add(channel);
    if (device.health().isDead()) {
      channel.deviceFailed(); // the thread that detected the failure may have missed it
    }
    return channel;
  }

  /** Notifies all waiters that the device has failed. Callers may hold the lock of a queue. */
  void deviceFailed() {
    asyncEvents.give(new ResourceEvent.OfDevice(AsyncEventType.DEVICE_FATAL));
    channels.forEach(EventChannel::deviceFailed);
  }

  // ---- for shared receive queues

  @Override
  public Health health() {
    return device.health();
  }

  @Override
  public int maxSrqWr() {
    return device.limits().maxQpWr();
  }

  @Override
  public int maxSrqSge() {
    return device.limits().maxReceiveSge();
  }

  @Override
  public SrqRefill srqRefill() {
    return device.srqRefill();
  }

  // ---- events and counters

  @Override
  public void raise(AsyncEventType type, Resource object) {
    asyncEvents.give(ResourceEvent.of(type, object));
  }

  void raisePort(AsyncEventType type, int number) {
    asyncEvents.give(new ResourceEvent.OfPort(type, number));
  }

  @Override
  public AsyncEvents asyncEvents() {
    checkOpen();
    return asyncEvents;
  }

  /** An object is closed: its untaken events are dropped. */
  @Override
  public void forgetEvents(Resource object) {
    asyncEvents.removeOf(object);
  }

  @Override
  public Counters counters() {
    checkOpen();
    return sum();
  }

  private Counters sum() {
    return counters.counters(
        asyncEvents.given(), device.commands().given(), device.function().dmaFaultCount());
  }

  /** An object with counters was created. */
  @Override
  public void count(ContextCounters.Counted object) {
    counters.add(object);
  }

  /** An object with counters is closed; its counts are kept. */
  @Override
  public void countNoMore(ContextCounters.Counted object) {
    counters.remove(object);
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

  @Override
  protected void release() {
    monitor.close();
    device.contexts().remove(this);
    asyncEvents.end(() -> new VerbsException(Errno.EINVAL, "%s is closed".formatted(name.name())));
    onClose.run();
  }
}
