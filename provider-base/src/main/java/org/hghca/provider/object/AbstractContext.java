package org.hghca.provider.object;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.hghca.provider.Health;
import org.hghca.provider.Resource;
import org.hghca.provider.Undo;
import org.hghca.provider.address.AddressTable;
import org.hghca.provider.counters.ContextCounters;
import org.hghca.provider.counters.ContextMonitor;
import org.hghca.provider.counters.Tally;
import org.hghca.provider.event.EventChannel;
import org.hghca.provider.event.ResourceEvent;
import org.hghca.provider.event.ResourceEvents;
import org.hghca.provider.snapshot.Kind;
import org.hghca.provider.snapshot.Published;
import org.hghca.provider.snapshot.Snapshot.Subject;
import org.hghca.provider.srq.SharingContext;
import org.hghca.provider.srq.SrqRefill;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.AsyncEvents;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.Context;
import org.hghca.verbs.Counter;
import org.hghca.verbs.Counters;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RoceEntropy;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.DmaMapping;

/**
 * One opening of a device of any driver: its addresses, completion channels, asynchronous events
 * and counters. A subclass makes the objects of its device.
 */
public abstract class AbstractContext extends Resource
    implements Context, SharingContext, Published {
  private final RdmaDevice name;
  private final AbstractDevice device;
  private final Health health;
  private final Runnable onClose;
  private final ResourceEvents asyncEvents;
  private final ContextCounters counters = new ContextCounters();
  private final Set<EventChannel> channels = ConcurrentHashMap.newKeySet();
  private ContextMonitor monitor;
  private volatile RoceEntropy entropy = RoceEntropy.V2;

  /**
   * A context without objects.
   *
   * @param device its node GUID follows from its address
   * @param onClose releases the device
   */
  protected AbstractContext(RdmaDevice name, AbstractDevice device, Runnable onClose) {
    this.name = new RdmaDevice(name.name(), name.locator(), Gid.eui64(device.address().mac()));
    this.device = device;
    this.health = device.health();
    this.onClose = onClose;
    this.asyncEvents = new ResourceEvents(name.name());
  }

  /**
   * Opens it: it is notified if the device fails, and shows its counters. The last step of a
   * construction.
   */
  protected final void open() {
    try (Undo undo = new Undo()) {
      device.contexts().add(this);
      undo.add(() -> device.contexts().remove(this));
      health.check(); // a failure before now has not notified it
      monitor = ContextMonitor.open(name.name(), this::sum);
      undo.forget();
    }
  }

  /** What all its device's contexts share. */
  final AbstractDevice shared() {
    return device;
  }

  /** The addresses of its port. */
  protected abstract AddressTable port();

  /** Number of commands that the device has got. */
  protected abstract long commandsGiven();

  /** Completion events that the device did not report; 0 where nothing looks for them. */
  protected long missedEvents() {
    return 0;
  }

  /** Frees what it has of its device, which does not notify it any more. */
  protected void releaseParts() {}

  @Override
  public final String describe() {
    return name.name();
  }

  @Override
  public final RdmaDevice device() {
    return name;
  }

  @Override
  public final Health health() {
    return health;
  }

  /** Checks that it is open, and that its device works. */
  public final void check() {
    checkOpen();
    health.check();
  }

  /** The attributes that all devices have alike, or that follow from its function. */
  protected final DeviceAttributes.Builder baseAttributes() {
    ConfigurationSpace configuration = device.function().configuration();
    return DeviceAttributes.builder()
        .nodeGuid(name.nodeGuid())
        .systemImageGuid(name.nodeGuid())
        .vendorId(configuration.vendorId())
        .vendorPartId(configuration.deviceId())
        .pageSizes(DmaMapping.PAGE_SIZE)
        .maxSrqWr(maxSrqWr())
        .maxSrqSge(maxSrqSge())
        .maxPkeys(1);
  }

  // ---- addresses

  @Override
  public final Gid queryGid(int number, int index) {
    check();
    return port().gid(number, index);
  }

  @Override
  public final List<GidEntry> queryGidTable() {
    check();
    return port().gidTable();
  }

  @Override
  public final int queryPkey(int number, int index) {
    check();
    return port().pkey(number, index);
  }

  @Override
  public final int pkeyIndex(int number, int pkey) {
    check();
    return port().pkeyIndex(number, pkey);
  }

  @Override
  public final void addNeighbor(Gid gid, long mac) {
    check();
    device.neighbors().add(gid, mac);
  }

  @Override
  public final RoceEntropy entropy() {
    return entropy;
  }

  @Override
  public final void entropy(RoceEntropy entropy) {
    this.entropy = Objects.requireNonNull(entropy);
  }

  // ---- channels and events

  @Override
  public final CompletionChannel createCompletionChannel() {
    check();
    EventChannel channel =
        new EventChannel(this, device.function(), health, counters, channels::remove);
    channels.add(channel);
    if (health.isDead()) {
      channel.deviceFailed(); // the thread that detected the failure may have missed it
    }
    return channel;
  }

  /** Notifies all waiters that the device has failed. Callers may hold the lock of a ring. */
  public final void deviceFailed() {
    asyncEvents.give(new ResourceEvent.OfDevice(AsyncEventType.DEVICE_FATAL));
    channels.forEach(EventChannel::deviceFailed);
  }

  /** {@inheritDoc} Callers may hold the lock of a ring. */
  @Override
  public final void raise(AsyncEventType type, Resource object) {
    asyncEvents.give(ResourceEvent.of(type, object));
  }

  /** Raises an asynchronous event of a port. */
  public final void raisePort(AsyncEventType type, int number) {
    asyncEvents.give(new ResourceEvent.OfPort(type, number));
  }

  @Override
  public final void forgetEvents(Resource object) {
    asyncEvents.removeOf(object);
  }

  @Override
  public final AsyncEvents asyncEvents() {
    checkOpen();
    return asyncEvents;
  }

  @Override
  public final SrqRefill srqRefill() {
    return device.srqRefill();
  }

  // ---- counters

  @Override
  public final Counters counters() {
    checkOpen();
    return sum();
  }

  private Counters sum() {
    Tally sum = new Tally();
    addTo(sum);
    return sum.toCounters();
  }

  @Override
  public final void addTo(Tally sum) {
    counters.addTo(sum);
    sum.add(Counter.MISSED_EVENTS, missedEvents());
    sum.add(Counter.ASYNC_EVENTS, asyncEvents.given());
    sum.add(Counter.COMMANDS, commandsGiven());
    sum.add(Counter.DMA_FAULTS, device.function().dmaFaultCount());
    sum.add(Counter.PINNED_BYTES, device.function().mappedBytes());
  }

  /** Itself and its objects, as far as they have rows of their own. */
  final Stream<Published> published() {
    return Stream.concat(
        Stream.of(this),
        counters.objects().stream().filter(Published.class::isInstance).map(Published.class::cast));
  }

  @Override
  public final Kind kind() {
    return Kind.CONTEXT;
  }

  @Override
  public final Subject subject() {
    String state = health.isDead() ? "failed" : "";
    return Subject.of(kind(), openingNumber(), 0, state);
  }

  /** Its number in this process, in the order of opening. */
  final long openingNumber() {
    return monitor.number();
  }

  /** Whether it is complete, and not closed. */
  final boolean isOpen() {
    return monitor != null && !isClosed();
  }

  @Override
  public final void count(ContextCounters.Counted object) {
    counters.add(object);
  }

  @Override
  public final void countNoMore(ContextCounters.Counted object) {
    counters.remove(object);
  }

  @Override
  protected final void release() {
    monitor.close();
    device.contexts().remove(this);
    releaseParts();
    asyncEvents.end(() -> new VerbsException(Errno.EINVAL, "%s is closed".formatted(name.name())));
    onClose.run();
  }
}
