package org.hghca.provider.object;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.provider.Health;
import org.hghca.provider.Resource;
import org.hghca.provider.address.AddressTable;
import org.hghca.provider.address.Neighbors;
import org.hghca.provider.counters.ContextCounters;
import org.hghca.provider.counters.ContextMonitor;
import org.hghca.provider.event.EventChannel;
import org.hghca.provider.event.ResourceEvent;
import org.hghca.provider.event.ResourceEvents;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.AsyncEvents;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.Context;
import org.hghca.verbs.Counters;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RoceEntropy;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.LinkAddress;

/**
 * One opening of a device of any driver: its addresses, completion channels, asynchronous events
 * and counters. A subclass makes the objects of its device.
 */
public abstract class AbstractContext extends Resource implements Context {
  private final RdmaDevice name;
  private final Health health;
  private final Neighbors neighbors;
  private final Runnable onClose;
  private final ResourceEvents asyncEvents;
  private final ContextCounters counters = new ContextCounters();
  private final Set<EventChannel> channels = ConcurrentHashMap.newKeySet();
  private ContextMonitor monitor;
  private volatile RoceEntropy entropy = RoceEntropy.V2;

  /**
   * A context without objects.
   *
   * @param address of the device, from which its node GUID follows
   * @param onClose releases the device
   */
  protected AbstractContext(
      RdmaDevice name, LinkAddress address, Health health, Neighbors neighbors, Runnable onClose) {
    this.name = new RdmaDevice(name.name(), name.locator(), Gid.eui64(address.mac()));
    this.health = health;
    this.neighbors = neighbors;
    this.onClose = onClose;
    this.asyncEvents = new ResourceEvents(name.name());
  }

  /** Shows its counters until it is closed. The last step of opening it. */
  protected final void startMonitor() {
    monitor = ContextMonitor.open(name.name(), this::sum);
  }

  /** The addresses of its port. */
  protected abstract AddressTable port();

  /** Number of commands that the device has got. */
  protected abstract long commandsGiven();

  /** Completion events that the device did not report; 0 where nothing looks for them. */
  protected long missedEvents() {
    return 0;
  }

  /** Number of the device's accesses to memory that failed. */
  protected abstract long dmaFaults();

  /** Frees what it has of its device, which calls {@link #deviceFailed} no more. */
  protected abstract void releaseParts();

  @Override
  public final String describe() {
    return name.name();
  }

  @Override
  public final RdmaDevice device() {
    return name;
  }

  /** Whether the device works. */
  public final Health health() {
    return health;
  }

  /** Checks that it is open, and that its device works. */
  public final void check() {
    checkOpen();
    health.check();
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
    neighbors.add(gid, mac);
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
    EventChannel channel = new EventChannel(this, health, counters, channels::remove);
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

  /**
   * Raises an asynchronous event. Callers may hold the lock of a ring.
   *
   * @param object the queue that it happened to
   */
  public final void raise(AsyncEventType type, Resource object) {
    asyncEvents.give(ResourceEvent.of(type, object));
  }

  /** Raises an asynchronous event of a port. */
  public final void raisePort(AsyncEventType type, int number) {
    asyncEvents.give(new ResourceEvent.OfPort(type, number));
  }

  /** An object is closed: its untaken events are dropped. */
  public final void forgetEvents(Resource object) {
    asyncEvents.removeOf(object);
  }

  @Override
  public final AsyncEvents asyncEvents() {
    checkOpen();
    return asyncEvents;
  }

  // ---- counters

  @Override
  public final Counters counters() {
    checkOpen();
    return sum();
  }

  private Counters sum() {
    return counters.counters(missedEvents(), asyncEvents.given(), commandsGiven(), dmaFaults());
  }

  /** An object with counters was created. */
  public final void count(ContextCounters.Counted object) {
    counters.add(object);
  }

  /** An object with counters is closed; its counts are kept. */
  public final void countNoMore(ContextCounters.Counted object) {
    counters.remove(object);
  }

  @Override
  protected final void release() {
    monitor.close();
    releaseParts();
    asyncEvents.end(() -> new VerbsException(Errno.EINVAL, "%s is closed".formatted(name.name())));
    onClose.run();
  }
}
