package org.hghca.driver;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.abi.PortInfo;
import org.hghca.uar.UarPage;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.AsyncEvents;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueAttributes;
import org.hghca.verbs.Counters;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.GidType;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.PortAttributes;
import org.hghca.verbs.PortState;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RoceEntropy;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.ConfigurationSpace;

/** One opening of a device: its own doorbell page, domains, queues and keys. */
final class DeviceContext extends Resource implements HghcaContext {
  private static final int DEFAULT_PKEY = 0xffff;
  private static final long PAGE_SIZES = 4096;

  private final RdmaDevice name;
  private final HghcaDevice hghca;
  private final Runnable onClose;
  private final UarPage uar;
  private final int queuePd;
  private final List<Gid> gids;
  private final HghcaAsyncEvents asyncEvents;
  private final Tally tally = new Tally();
  private final Set<HghcaCompletionChannel> channels = ConcurrentHashMap.newKeySet();
  private volatile RoceEntropy entropy = RoceEntropy.V2;

  /**
   * Opens a context.
   *
   * @param onClose lets go of the device
   */
  DeviceContext(RdmaDevice name, HghcaDevice hghca, Runnable onClose) {
    this.name = name;
    this.hghca = hghca;
    this.onClose = onClose;
    this.asyncEvents = new HghcaAsyncEvents(name.name());
    hghca.health().check();
    try (Undo undo = new Undo()) {
      this.uar = hghca.uars().allocate();
      undo.add(uar::close);
      this.queuePd = hghca.pdNumbers().allocate();
      undo.add(() -> hghca.pdNumbers().free(queuePd));
      hghca.contexts().add(this);
      undo.add(() -> hghca.contexts().remove(this));
      hghca.health().check(); // whoever found out may have missed it
      undo.forget();
    } catch (RuntimeException e) {
      throw Failures.of("cannot open " + name.name(), e);
    }
    this.gids = List.of(Gid.ofMac(hghca.address().mac()), Gid.ofIpv4(hghca.address().ip()));
  }

  HghcaDevice hghca() {
    return hghca;
  }

  UarPage uar() {
    return uar;
  }

  /** The domain of the completion queues' memory, which applications do not see. */
  int queuePd() {
    return queuePd;
  }

  @Override
  String describe() {
    return name.name();
  }

  @Override
  public RdmaDevice device() {
    return name;
  }

  private void check() {
    checkOpen();
    hghca.health().check();
  }

  void checkPort(int port) {
    if (port != 1) {
      throw new VerbsException(
          Errno.EINVAL, "%s has no port %d, only port 1".formatted(name.name(), port));
    }
  }

  void checkGlobal(AddressVector vector) {
    if (!vector.isGlobal()) {
      throw new VerbsException(
          Errno.EINVAL,
          "an address vector over Ethernet needs a global route: set the destination's GID");
    }
  }

  @Override
  public DeviceAttributes queryDevice() {
    check();
    Limits limits = hghca.limits();
    ConfigurationSpace configuration = hghca.function().configuration();
    return new DeviceAttributes(
        "",
        name.nodeGuid(),
        name.nodeGuid(),
        configuration.vendorId(),
        configuration.deviceId(),
        configuration.revisionId(),
        Optional.of("%016x".formatted(hghca.adapter().boardId())),
        limits.device().ports(),
        hghca.maxMrSize(),
        PAGE_SIZES,
        limits.endQp() - limits.firstQp(),
        limits.maxQpWr(),
        Math.min(limits.maxSge(), limits.maxReceiveSge()),
        limits.maxSge(),
        limits.endCq() - limits.firstCq(),
        limits.maxCqEntries(),
        hghca.registrar().capacity(),
        limits.device().maxPds() - limits.device().reservedPds(),
        limits.maxReadAtomic(),
        limits.maxReadAtomic() * (limits.endQp() - limits.firstQp()),
        limits.maxReadAtomic(),
        limits.profile().atomics(),
        limits.maxSrq(),
        limits.maxSrqWr(),
        limits.maxSrqSge(),
        1,
        limits.device().ackDelay(),
        limits.maxInline(),
        limits.profile().remoteBoundsGranularity(),
        hghca.events().completionVectors());
  }

  @Override
  public PortAttributes queryPort(int port) {
    check();
    checkPort(port);
    Mtu mtu = Mtu.of(hghca.limits().device().maxMtu());
    Optional<PortInfo> info = portInfo();
    PortState state = info.map(DeviceContext::state).orElse(PortState.ACTIVE);
    return new PortAttributes(
        state, info.isEmpty(), mtu, mtu, gids.size(), 1, 1L << 31, 0, 0, 0, hghca.address().mac());
  }

  private Optional<PortInfo> portInfo() {
    try {
      return hghca.portInfo();
    } catch (RuntimeException e) {
      throw Failures.of("cannot query the port of " + name.name(), e);
    }
  }

  /** A state that does not exist is libibverbs' "invalid state". */
  private static PortState state(PortInfo info) {
    PortState[] known = PortState.values();
    return info.portState() < known.length ? known[info.portState()] : PortState.NOP;
  }

  @Override
  public Gid queryGid(int port, int index) {
    check();
    checkPort(port);
    if (index < 0 || index >= gids.size()) {
      throw new VerbsException(
          Errno.ENODATA,
          "GID index %d of %s is empty: there are %d".formatted(index, name.name(), gids.size()));
    }
    return gids.get(index);
  }

  /**
   * The GID of our own that a vector starts from.
   *
   * @throws VerbsException EINVAL when its index holds none
   */
  Gid sourceGid(AddressVector vector) {
    int index = vector.sourceGidIndex();
    if (index >= gids.size()) {
      throw new VerbsException(
          Errno.EINVAL,
          "source GID index %d of %s is empty: there are %d"
              .formatted(index, name.name(), gids.size()));
    }
    return gids.get(index);
  }

  /** The index of one of our own GIDs. */
  int gidIndex(Gid gid) {
    int index = gids.indexOf(gid);
    if (index < 0) {
      throw new VerbsException(Errno.EINVAL, "GID %s is not one of %s".formatted(gid, name.name()));
    }
    return index;
  }

  @Override
  public List<GidEntry> queryGidTable() {
    check();
    return List.of(
        new GidEntry(gids.get(0), 1, 0, GidType.ROCE_V1),
        new GidEntry(gids.get(1), 1, 1, GidType.ROCE_V2));
  }

  @Override
  public int queryPkey(int port, int index) {
    check();
    checkPort(port);
    if (index != 0) {
      throw new VerbsException(
          Errno.EINVAL, "%s has no P_Key index %d, only 0".formatted(name.name(), index));
    }
    return DEFAULT_PKEY;
  }

  @Override
  public int pkeyIndex(int port, int pkey) {
    if (pkey != queryPkey(port, 0)) {
      throw new VerbsException(
          Errno.EINVAL, "%s does not hold P_Key 0x%04x".formatted(name.name(), pkey));
    }
    return 0;
  }

  @Override
  public void addNeighbor(Gid gid, long mac) {
    check();
    hghca.neighbors().add(gid, mac);
  }

  /** The MAC of a GID, our own among them. */
  long macOf(Gid gid) {
    return gids.contains(gid) ? hghca.address().mac() : hghca.neighbors().resolve(gid);
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
    HghcaCompletionChannel channel = new HghcaCompletionChannel(this);
    channels.add(channel);
    if (hghca.health().isDead()) {
      channel.deviceFailed(); // whoever found out may have missed it
    }
    return channel;
  }

  void channelClosed(HghcaCompletionChannel channel) {
    channels.remove(channel);
  }

  /** Tells all who wait that the device is dead. Callers may hold the lock of a ring. */
  void deviceFailed() {
    asyncEvents.give(new HghcaAsyncEvent(AsyncEventType.DEVICE_FATAL, null, 0));
    channels.forEach(HghcaCompletionChannel::deviceFailed);
  }

  void raisePort(AsyncEventType type, int port) {
    asyncEvents.give(new HghcaAsyncEvent(type, null, port));
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
  void raise(AsyncEventType type, Resource object) {
    asyncEvents.give(new HghcaAsyncEvent(type, object, 0));
  }

  /** An object is closed: what nobody has taken of its events is forgotten. */
  void forgetEvents(Resource object) {
    asyncEvents.removeOf(object);
  }

  @Override
  public Counters counters() {
    checkOpen();
    return tally.counters(
        asyncEvents.given(), hghca.commands().commandsGiven(), hghca.function().dmaFaultCount());
  }

  /** Something that counts was made. */
  void count(Tally.Counted object) {
    tally.add(object);
  }

  /** Something that counts is closed; what it has counted stays. */
  void countNoMore(Tally.Counted object) {
    tally.remove(object);
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    check();
    return new HghcaProtectionDomain(this);
  }

  @Override
  public CompletionQueue createCompletionQueue(CompletionQueueAttributes attributes) {
    check();
    return new HghcaCompletionQueue(this, attributes);
  }

  @Override
  public CardInformation card() {
    check();
    return new CardInformation(
        hghca.limits().profile().name(),
        hghca.limits().profile().hcrBase(),
        hghca.adapter().boardId(),
        hghca.limits().device(),
        hghca.icm().usage());
  }

  @Override
  void release() {
    hghca.contexts().remove(this);
    asyncEvents.end(() -> new VerbsException(Errno.EINVAL, "%s is closed".formatted(name.name())));
    hghca.pdNumbers().free(queuePd);
    uar.close();
    onClose.run();
  }
}
