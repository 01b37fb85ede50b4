package org.hghca.programs.perf.run;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.hghca.cm.CmId;
import org.hghca.programs.Opened;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfException;
import org.hghca.programs.perf.medium.Conversation;
import org.hghca.programs.perf.medium.Device;
import org.hghca.programs.perf.medium.PeerAddress;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.DeviceQuirk;
import org.hghca.verbs.Gid;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;

/** The queue pairs of a side, their memory and their completion queues. */
public final class Resources implements AutoCloseable {
  /** The Q_Key of datagrams, unless the connection manager says it. */
  private static final int QKEY = 0x1111_1111;

  private final Parameters parameters;
  private final Device device;
  private final Mtu mtu;
  private final Buffers buffers;
  private final Opened opened = new Opened();
  private final Optional<CompletionChannel> channel;
  private final CompletionQueue sends;
  private final CompletionQueue receives;
  private final ProtectionDomain pd;
  private final MemoryRegion memory;
  private final List<QueuePair> pairs = new ArrayList<>();
  private final List<PeerAddress> addresses = new ArrayList<>();
  private final List<AddressHandle> handles = new ArrayList<>();
  private List<PeerAddress> peers = List.of();

  /** Makes all but the queue pairs. */
  public Resources(Parameters parameters, Device device, Mtu mtu, Conversation.Layout layout) {
    this.parameters = parameters;
    this.device = device;
    this.mtu = mtu;
    Parameters.Queues queues = parameters.queues();
    DeviceRoom.check(queues, attributes());
    int header = parameters.type() == QpType.UD ? Buffers.DATAGRAM_HEADER : 0;
    buffers = new Buffers(queues.pairs(), parameters.largest(), layout, header);
    try {
      channel =
          queues.events()
              ? Optional.of(opened.add(device.context().createCompletionChannel()))
              : Optional.empty();
      sends = completionQueue(queues.pairs() * queues.sendDepth());
      receives = completionQueue(queues.pairs() * queues.receiveDepth());
      pd = opened.add(device.context().allocateProtectionDomain());
      memory = opened.add(pd.allocate(buffers.bytes(), access()));
    } catch (RuntimeException e) {
      opened.close();
      throw e;
    }
  }

  private CompletionQueue completionQueue(int entries) {
    CompletionQueueConfig config = CompletionQueueConfig.of(entries);
    return opened.add(
        device.context().createCompletionQueue(channel.map(config::withChannel).orElse(config)));
  }

  /** Makes the queue pairs, in INIT. */
  public void makePairs() {
    for (int i = 0; i < parameters.queues().pairs(); i++) {
      QueuePair pair = opened.add(pd.createQueuePair(config()));
      pair.modify(options().toInit(parameters.type()));
      adopt(pair);
    }
  }

  /** Takes part in a group with the only queue pair, whose address is that of the group then. */
  public void join(Gid group) {
    QueuePair pair = pairs.getFirst();
    pair.attachMulticast(group);
    AutoCloseable _ = opened.add(() -> pair.detachMulticast(group));
    addresses.set(0, addresses.getFirst().in(group));
  }

  /** Takes a queue pair as the next one. */
  public void adopt(QueuePair pair) {
    addresses.add(address(pairs.size(), pair));
    pairs.add(pair);
  }

  /** What a queue pair is made with. */
  public QueuePairConfig config() {
    Parameters.Queues queues = parameters.queues();
    return QueuePairConfig.of(parameters.type(), sends, receives)
        .sendDepth(queues.sendDepth())
        .receiveDepth(queues.receiveDepth())
        .maxInline(inline())
        .singleOwner();
  }

  private Set<AccessFlag> access() {
    Set<AccessFlag> access =
        EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
    if (attributes().atomics()) {
      access.add(AccessFlag.REMOTE_ATOMIC);
    }
    return access;
  }

  public DeviceAttributes attributes() {
    return device.context().queryDevice();
  }

  private ConnectionOptions options() {
    Parameters.Route route = parameters.route();
    return ConnectionOptions.DEFAULT
        .withPort(route.port())
        .withGidIndex(device.gidIndex())
        .withPathMtu(mtu)
        .withAccess(access().toArray(AccessFlag[]::new))
        .withTimeout(route.timeout())
        .withServiceLevel(route.serviceLevel())
        .withHopLimit(route.hopLimit())
        .withTrafficClass(route.trafficClass());
  }

  private PeerAddress address(int index, QueuePair pair) {
    return new PeerAddress(
        device.lid(),
        outstandingReads(),
        pair.number(),
        psn(),
        memory.rkey(),
        memory.address() + buffers.receiveOffset(index),
        0,
        Optional.of(device.gid()));
  }

  /** A random PSN: any of them, or a low one where PSNs do not wrap. */
  private int psn() {
    boolean low = attributes().has(DeviceQuirk.NO_PSN_WRAP);
    return ThreadLocalRandom.current().nextInt(low ? 1 << 16 : 1 << 24);
  }

  /** READs and atomics that may be outstanding. */
  public int outstandingReads() {
    int most = Math.min(attributes().maxQpInitiatorReadAtomic(), attributes().maxQpReadAtomic());
    int wanted = parameters.queues().outstandingReads();
    if (wanted > most) {
      throw new PerfException(
          "Number of outstanding reads is above max = %d: give --outs that much".formatted(most));
    }
    if (!parameters.test().verb().isRequest()) {
      return Math.min(1, most);
    }
    return wanted == 0 ? most : wanted;
  }

  /** Bytes that a request may carry in itself, as far as the device can. */
  public int inline() {
    boolean possible =
        parameters.type() != QpType.UD || attributes().has(DeviceFeature.INLINE_DATAGRAMS);
    return possible ? Math.min(parameters.queues().inline(), attributes().maxInline()) : 0;
  }

  /** Whether a request of that many bytes carries them in itself. */
  boolean isInline(long bytes) {
    return !parameters.test().verb().isRequest() && bytes <= inline();
  }

  /** Datagrams of the next queue pair go there. */
  public void reach(AddressVector vector) {
    handles.add(opened.add(pd.createAddressHandle(vector)));
  }

  /** Brings the queue pairs to RTS, unless the connection manager has; they send to these. */
  public void connect(List<PeerAddress> to) {
    peers = List.copyOf(to);
    if (parameters.route().meeting().connects()) {
      return;
    }
    for (int i = 0; i < pairs.size(); i++) {
      connect(pairs.get(i), addresses.get(i), peers.get(i));
      if (parameters.type() == QpType.UD) {
        reach(vector(peers.get(i)));
      }
    }
  }

  private void connect(QueuePair pair, PeerAddress own, PeerAddress peer) {
    QpType type = parameters.type();
    QpEndpoint endpoint =
        new QpEndpoint(peer.lid(), peer.qpNumber(), peer.psn(), peer.gid().orElseThrow());
    QpAttributes ready = options().toRtr(type, endpoint);
    QpAttributes sending = options().toRts(type, own.psn());
    if (type == QpType.RC) {
      ready.maxDestinationReadAtomic(own.outstandingReads());
      sending.maxReadAtomic(
          Math.min(peer.outstandingReads(), attributes().maxQpInitiatorReadAtomic()));
    }
    pair.modify(ready);
    pair.modify(sending);
  }

  private AddressVector vector(PeerAddress peer) {
    Parameters.Route route = parameters.route();
    return new AddressVector(
        peer.gid().orElseThrow(),
        device.gidIndex(),
        0,
        route.hopLimit(),
        route.trafficClass(),
        route.serviceLevel(),
        route.port());
  }

  public Parameters parameters() {
    return parameters;
  }

  public Mtu mtu() {
    return mtu;
  }

  public Device device() {
    return device;
  }

  public Buffers buffers() {
    return buffers;
  }

  Optional<CompletionChannel> channel() {
    return channel;
  }

  public CompletionQueue sends() {
    return sends;
  }

  public CompletionQueue receives() {
    return receives;
  }

  public ProtectionDomain pd() {
    return pd;
  }

  public MemoryRegion memory() {
    return memory;
  }

  public List<QueuePair> pairs() {
    return pairs;
  }

  /** Our queue pairs, for the peer. */
  public List<PeerAddress> addresses() {
    return addresses;
  }

  /** The peer's queue pairs. */
  List<PeerAddress> peers() {
    return peers;
  }

  /** The way to the peer of a datagram queue pair. */
  public AddressHandle handle(int pair) {
    return handles.get(pair);
  }

  /** The Q_Key of datagrams. */
  int qkey() {
    return parameters.route().meeting().connects() ? CmId.UDP_QKEY : QKEY;
  }

  /** Closes them, the last one first. */
  @Override
  public void close() {
    opened.close();
  }
}
