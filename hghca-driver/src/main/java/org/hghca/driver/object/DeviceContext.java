package org.hghca.driver.object;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.driver.card.Card;
import org.hghca.driver.card.Features;
import org.hghca.driver.card.Limits;
import org.hghca.driver.state.ContextAttributes;
import org.hghca.driver.state.Port;
import org.hghca.provider.ContextCounters;
import org.hghca.provider.ContextMonitor;
import org.hghca.provider.EventChannel;
import org.hghca.provider.Failures;
import org.hghca.provider.Health;
import org.hghca.provider.Resource;
import org.hghca.provider.ResourceEvent;
import org.hghca.provider.ResourceEvents;
import org.hghca.provider.Undo;
import org.hghca.provider.srq.SharingContext;
import org.hghca.provider.srq.SrqRefill;
import org.hghca.uar.UarPage;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.AsyncEvents;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Context;
import org.hghca.verbs.Counters;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.PortAttributes;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RoceEntropy;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.ConfigurationSpace;

/** One opening of a device: its doorbell page, protection domains, queues and keys. */
public class DeviceContext extends Resource implements Context, SharingContext {
  private static final long PAGE_SIZES = 4096;

  private final RdmaDevice name;
  private final HghcaDevice hghca;
  private final Card card;
  private final Runnable onClose;
  private final UarPage uar;
  private final int queuePd;
  private final Port port;
  private final ContextAttributes attributes;
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
  public DeviceContext(RdmaDevice name, HghcaDevice hghca, Runnable onClose) {
    this.name = new RdmaDevice(name.name(), name.locator(), Gid.eui64(hghca.address().mac()));
    this.hghca = hghca;
    this.card = hghca.card();
    this.onClose = onClose;
    this.asyncEvents = new ResourceEvents(name.name());
    this.port =
        new Port(
            name.name(),
            hghca.address(),
            hghca.gids(),
            hghca.neighbors(),
            card.limits(),
            card::portInfo);
    this.attributes = new ContextAttributes(card.limits(), port, this::entropy);
    try (Undo undo = new Undo()) {
      this.uar = card.uars().allocate();
      undo.add(uar::close);
      this.queuePd = hghca.pdNumbers().allocate();
      undo.add(() -> hghca.pdNumbers().free(queuePd));
      hghca.objects().contexts().add(this);
      undo.add(() -> hghca.objects().contexts().remove(this));
      // From here on the context is notified if the device fails.
      card.health().check();
      this.monitor = ContextMonitor.open(name.name(), this::sum);
      undo.forget();
    } catch (RuntimeException e) {
      throw Failures.of("cannot open " + name.name(), e);
    }
  }

  HghcaDevice hghca() {
    return hghca;
  }

  UarPage uar() {
    return uar;
  }

  Port port() {
    return port;
  }

  /** Converts attributes of its queue pairs to the card's context. */
  ContextAttributes attributes() {
    return attributes;
  }

  /** The protection domain of the completion queues' memory, which applications do not see. */
  int queuePd() {
    return queuePd;
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
  public final void check() {
    checkOpen();
    card.health().check();
  }

  @Override
  public DeviceAttributes queryDevice() {
    check();
    Limits limits = card.limits();
    ConfigurationSpace configuration = card.function().configuration();
    return DeviceAttributes.builder()
        .nodeGuid(name.nodeGuid())
        .systemImageGuid(name.nodeGuid())
        .vendorId(configuration.vendorId())
        .vendorPartId(configuration.deviceId())
        .hardwareVersion(configuration.revisionId())
        .boardId("%016x".formatted(card.adapter().boardId()))
        .physicalPorts(limits.device().ports())
        .maxMrSize(card.maxMrSize())
        .pageSizes(PAGE_SIZES)
        .maxQp(limits.endQp() - limits.firstQp())
        .maxQpWr(limits.maxQpWr())
        .maxSge(Math.min(limits.maxSge(), limits.maxReceiveSge()))
        .maxSgeRead(limits.maxSge())
        .maxCq(limits.endCq() - limits.firstCq())
        .maxCqe(limits.maxCqEntries())
        .maxMr(hghca.registrar().capacity())
        .maxPd(limits.device().maxPds() - limits.device().reservedPds())
        .maxQpReadAtomic(limits.maxReadAtomic())
        .maxReadAtomic(limits.maxReadAtomic() * (limits.endQp() - limits.firstQp()))
        .maxQpInitiatorReadAtomic(limits.maxReadAtomic())
        .atomics(limits.profile().atomics())
        .maxSrq(limits.maxSrq())
        .maxSrqWr(limits.maxSrqWr())
        .maxSrqSge(limits.maxSrqSge())
        .maxMulticastGroups(limits.maxMulticastGroups())
        .maxMulticastAttach(limits.maxMulticastAttach())
        .maxTotalMulticastAttach(limits.maxMulticastGroups() * limits.maxMulticastAttach())
        .maxPkeys(1)
        .localAckDelay(limits.device().ackDelay())
        .maxInline(limits.maxInline())
        .remoteBoundsGranularity(limits.profile().remoteBoundsGranularity())
        .completionVectors(hghca.events().completionVectors())
        .features(Features.of(limits, hghca.events().hasEventQueues()))
        .quirks(Features.quirks(limits, hghca.events().hasEventQueues()))
        .advice(Features.advice(limits))
        .build();
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
    hghca.neighbors().add(gid, mac);
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
    EventChannel channel = new EventChannel(this, card.health(), counters, channels::remove);
    channels.add(channel);
    if (card.health().isDead()) {
      channel.deviceFailed(); // the thread that detected the failure may have missed it
    }
    return channel;
  }

  /** Notifies all waiters that the device has failed. Callers may hold the lock of a ring. */
  void deviceFailed() {
    asyncEvents.give(new ResourceEvent.OfDevice(AsyncEventType.DEVICE_FATAL));
    channels.forEach(EventChannel::deviceFailed);
  }

  // ---- for shared receive queues

  @Override
  public Health health() {
    return card.health();
  }

  @Override
  public int maxSrqWr() {
    return card.limits().maxSrqWr();
  }

  @Override
  public int maxSrqSge() {
    return card.limits().maxSrqSge();
  }

  @Override
  public SrqRefill srqRefill() {
    return hghca.srqRefill();
  }

  // ---- events and counters

  void raisePort(AsyncEventType type, int port) {
    asyncEvents.give(new ResourceEvent.OfPort(type, port));
  }

  @Override
  public AsyncEvents asyncEvents() {
    checkOpen();
    return asyncEvents;
  }

  /**
   * Raises an asynchronous event. Callers may hold the lock of a ring.
   *
   * @param object the queue that it happened to
   */
  @Override
  public void raise(AsyncEventType type, Resource object) {
    asyncEvents.give(ResourceEvent.of(type, object));
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
        asyncEvents.given(), card.commands().commandsGiven(), card.function().dmaFaultCount());
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
    return new HghcaProtectionDomain(this);
  }

  @Override
  public CompletionQueue createCompletionQueue(CompletionQueueConfig config) {
    check();
    return new HghcaCompletionQueue(this, config);
  }

  @Override
  protected void release() {
    monitor.close();
    hghca.objects().contexts().remove(this);
    asyncEvents.end(() -> new VerbsException(Errno.EINVAL, "%s is closed".formatted(name.name())));
    hghca.pdNumbers().free(queuePd);
    uar.close();
    onClose.run();
  }
}
