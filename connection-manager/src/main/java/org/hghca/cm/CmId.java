package org.hghca.cm;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.hghca.cm.carrier.Carrier;
import org.hghca.cm.carrier.ConnectReply;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Handshake;
import org.hghca.cm.carrier.HandshakeEvents;
import org.hghca.cm.carrier.Path;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.ServiceHandshake;
import org.hghca.cm.carrier.ServiceRequest;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.DeviceQuirk;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.VerbsException;

/**
 * One end of a connection, a listener, or a datagram service: {@code rdma_cm_id}. Its calls return
 * at once and report to the {@link EventChannel}; those of a synchronous identifier ({@link #open})
 * wait for their event instead and throw what it reports. Thread-safe.
 *
 * <p>A call in a state in which it has no meaning throws {@link VerbsException} with EINVAL, which
 * names the state. Private data that does not fit the message is EINVAL, too: 56 bytes for {@link
 * #connect} (180 with datagrams), 196 for {@link #accept} (136), 148 for {@link #reject} (136).
 */
public final class CmId implements AutoCloseable {
  /** The Q_Key of datagrams: {@code RDMA_UDP_QKEY}. */
  public static final int UDP_QKEY = 0x0123_4567;

  /** Requests that wait to be accepted, if {@link #listen} does not say how many. */
  public static final int MAX_BACKLOG = 1024;

  private static final int HOP_LIMIT = 64;
  private static final int PSNS = 1 << 24;
  private static final int LOW_PSNS = 1 << 16;
  private static final Duration ACKNOWLEDGEMENT = Duration.ofSeconds(60);

  /** Longer than any carrier tries. */
  private static final Duration SYNCHRONOUS = Duration.ofSeconds(150);

  private final CmDevices devices;
  private final PortSpace space;
  private final boolean synchronous;
  private final Deliveries deliveries = new Deliveries();
  private final CmOptions options = new CmOptions();
  private final Set<Gid> groups = new HashSet<>();
  private EventChannel channel;
  private CmState state = CmState.IDLE;
  private InetSocketAddress local = new InetSocketAddress(0);
  private InetSocketAddress remote = new InetSocketAddress(0);
  private Optional<Ports.Binding> binding = Optional.empty();
  private Optional<CmDevices.Place> place = Optional.empty();
  private List<CmDevices.Place> listeningPlaces = List.of();
  private Optional<Path> path = Optional.empty();
  private Optional<QueuePair> queuePair = Optional.empty();
  private Optional<End> end = Optional.empty();

  /** The listener in whose backlog this request waits. */
  private Optional<Listening> waitsAt = Optional.empty();

  /** Whether the program has taken this request: one that fails before keeps its place. */
  private boolean requestTaken;

  CmId(EventChannel channel, CmDevices devices, PortSpace space, boolean synchronous) {
    this.channel = channel;
    this.devices = devices;
    this.space = Objects.requireNonNull(space);
    this.synchronous = synchronous;
    channel.add(this);
  }

  /** A synchronous identifier: {@code rdma_create_id} without a channel. */
  public static CmId open(PortSpace space, CmDevices devices) {
    return new CmId(EventChannel.open(devices), devices, space, true);
  }

  /** The port space. */
  public PortSpace portSpace() {
    return space;
  }

  /** Where events arrive: of a synchronous identifier, its own. */
  public synchronized EventChannel channel() {
    return channel;
  }

  /** {@code rdma_get_local_addr}; the wildcard address with port 0 before it is known. */
  public synchronized InetSocketAddress localAddress() {
    return local;
  }

  /** {@code rdma_get_peer_addr}; the wildcard address with port 0 before it is known. */
  public synchronized InetSocketAddress remoteAddress() {
    return remote;
  }

  /**
   * The device, with which protection domains and completion queues are made.
   *
   * @throws VerbsException EINVAL before an address is bound or resolved
   */
  public synchronized Context context() {
    return device().context();
  }

  /** The queue pair that {@link #createQueuePair} made. */
  public synchronized Optional<QueuePair> queuePair() {
    return queuePair;
  }

  /** The path, once the route is resolved: where messages go, without the peer's number. */
  public synchronized Optional<AddressVector> path() {
    return path.map(Path::vector);
  }

  // Options.

  /** {@code RDMA_OPTION_ID_TOS}: the traffic class of the path, 8 bits; before resolveRoute. */
  public synchronized void typeOfService(int trafficClass) {
    if (trafficClass >>> 8 != 0) {
      throw new VerbsException(Errno.EINVAL, "a traffic class has 8 bits, not " + trafficClass);
    }
    options.typeOfService = trafficClass;
  }

  /** {@code RDMA_OPTION_ID_REUSEADDR}: others that say so, too, may bind the port. */
  public synchronized void reuseAddress(boolean on) {
    options.reuseAddress = on;
  }

  /** {@code RDMA_OPTION_ID_ACK_TIMEOUT}: the code of 5 bits; before resolveRoute. */
  public synchronized void ackTimeout(int code) {
    if (code >>> 5 != 0) {
      throw new VerbsException(Errno.EINVAL, "an ACK timeout has 5 bits, not " + code);
    }
    options.ackTimeout = Optional.of(code);
  }

  /**
   * The carrier, before it is used. Without it {@code -Dhghca.cm.carrier} says it, or what the
   * device announces. Both ends must use the same.
   */
  public synchronized void carrier(CarrierKind kind) {
    options.carrier = Optional.of(kind);
  }

  // Addresses.

  /**
   * {@code rdma_bind_addr}.
   *
   * @param address of a device, or the wildcard address; port 0 for any free one
   * @throws VerbsException EADDRINUSE when the port is taken; ENODEV when no device has the address
   */
  public synchronized void bind(InetSocketAddress address) {
    requireKnown(address);
    require("bind", CmState.IDLE);
    Ports.Binding bound = devices.ports().bind(space, address, options.reuseAddress);
    try {
      if (!address.getAddress().isAnyLocalAddress()) {
        SharedDevice found = devices.find(address.getAddress());
        place = Optional.of(new CmDevices.Place(found, address.getAddress()));
        channel.use(found);
      }
    } catch (VerbsException e) {
      bound.close();
      throw e;
    }
    binding = Optional.of(bound);
    local = new InetSocketAddress(address.getAddress(), bound.port());
    state = CmState.BOUND;
  }

  /** {@code rdma_resolve_addr} from any local address: ADDR_RESOLVED or ADDR_ERROR follows. */
  public void resolveAddress(InetSocketAddress to, Duration limit) {
    requireKnown(to);
    synchronized (this) {
      require("resolve an address", CmState.IDLE, CmState.BOUND);
      if (state == CmState.IDLE) {
        bind(new InetSocketAddress(anyLike(to.getAddress()), 0));
      }
      state = CmState.RESOLVING_ADDRESS;
      remote = to;
    }
    Thread.ofVirtual().name("hghca-cm-resolve").start(this::findDevice);
    await(limit, CmEventType.ADDR_RESOLVED);
  }

  /** {@code rdma_resolve_addr} from a local address. */
  public void resolveAddress(InetSocketAddress from, InetSocketAddress to, Duration limit) {
    bind(from);
    resolveAddress(to, limit);
  }

  private static void requireKnown(InetSocketAddress address) {
    if (address.isUnresolved()) {
      throw new VerbsException(
          Errno.EHOSTUNREACH, "the host %s is not known".formatted(address.getHostString()));
    }
  }

  private static InetAddress anyLike(InetAddress address) {
    return InetAddress.ofLiteral(address instanceof Inet4Address ? "0.0.0.0" : "::");
  }

  /** Opening a device may take seconds. */
  private void findDevice() {
    InetSocketAddress to = remoteAddress();
    CmEvent event = CmEvent.of(this, CmEventType.ADDR_RESOLVED);
    CmState next = CmState.ADDRESS_RESOLVED;
    boolean bound;
    synchronized (this) {
      bound = place.isPresent();
    }
    Optional<CmDevices.Place> found = Optional.empty();
    try {
      if (!bound) {
        found = Optional.of(route(to.getAddress()));
      }
    } catch (VerbsException e) {
      event = CmEvent.failure(this, CmEventType.ADDR_ERROR, -e.errno().number(), e.getMessage());
      next = CmState.BOUND;
    }
    synchronized (this) {
      if (state == CmState.RESOLVING_ADDRESS) {
        if (found.isPresent()) {
          place = found;
        }
        place.ifPresent(known -> local = new InetSocketAddress(known.address(), local.getPort()));
        place.ifPresent(known -> channel.use(known.device()));
        state = next;
        post(event);
        return;
      }
    }
    found.ifPresent(unused -> unused.device().release()); // closed meanwhile
  }

  /** The device and the local address from which to reach a remote one; its release is due. */
  private CmDevices.Place route(InetAddress to) {
    SharedDevice device = devices.route(to);
    try {
      return new CmDevices.Place(device, source(device, to));
    } catch (VerbsException e) {
      device.release();
      throw e;
    }
  }

  private synchronized InetAddress source(SharedDevice device, InetAddress to) {
    return options.carrier(device).source(device.context(), to);
  }

  /** {@code rdma_resolve_route}: ROUTE_RESOLVED or ROUTE_ERROR follows. */
  public void resolveRoute(Duration limit) {
    if (limit.isZero() || limit.isNegative()) {
      throw new VerbsException(Errno.EINVAL, "the time limit must be above zero");
    }
    synchronized (this) {
      require("resolve a route", CmState.ADDRESS_RESOLVED);
      try {
        path = Optional.of(route());
        state = CmState.ROUTE_RESOLVED;
        post(CmEvent.of(this, CmEventType.ROUTE_RESOLVED));
      } catch (VerbsException e) {
        post(CmEvent.failure(this, CmEventType.ROUTE_ERROR, -e.errno().number(), e.getMessage()));
      }
    }
    await(limit, CmEventType.ROUTE_RESOLVED);
  }

  private Path route() {
    Context context = context();
    return options
        .carrier(device())
        .path(context, local, remote, options.typeOfService, HOP_LIMIT, options.packetLife());
  }

  // Listening.

  /**
   * {@code rdma_listen}: CONNECT_REQUEST follows for each peer that asks.
   *
   * @param backlog requests that wait to be accepted; 0 or less, or more than {@link #MAX_BACKLOG},
   *     is {@link #MAX_BACKLOG}
   * @throws VerbsException EADDRINUSE, EADDRNOTAVAIL, EACCES as the carrier finds
   */
  public synchronized void listen(int backlog) {
    require("listen", CmState.IDLE, CmState.BOUND);
    if (state == CmState.IDLE) {
      bind(new InetSocketAddress(0));
    }
    Listening listening =
        new Listening(this, backlog <= 0 ? MAX_BACKLOG : Math.min(backlog, MAX_BACKLOG));
    List<CmDevices.Place> places =
        place.map(List::of).orElseGet(() -> devices.everywhere(local.getAddress()));
    try {
      for (CmDevices.Place where : places) {
        listening.add(
            where.device(),
            listener ->
                carrier(where.device())
                    .listen(
                        space.serviceId(local.getPort()),
                        new InetSocketAddress(where.address(), local.getPort()),
                        listener));
      }
    } catch (VerbsException e) {
      listening.close();
      if (place.isEmpty()) {
        places.forEach(where -> where.device().release());
      }
      throw e;
    }
    listeningPlaces = place.isEmpty() ? places : List.of();
    places.forEach(where -> channel.use(where.device()));
    end = Optional.of(listening);
    state = CmState.LISTENING;
  }

  /** A peer asks for a connection. */
  Optional<HandshakeEvents> asked(
      Listening listening, SharedDevice device, Handshake handshake, ConnectRequest request) {
    CmId child = child(listening, device, request.local(), request.remote(), request.path());
    try {
      Connection connection = Connection.asked(child, carrierKind(device), handshake, request);
      return present(child, connection, connection.asked())
          ? Optional.of(connection)
          : Optional.empty();
    } catch (RuntimeException e) {
      child.closeWithoutPlace();
      throw e;
    }
  }

  /** A peer asks for a datagram service. */
  boolean asked(
      Listening listening,
      SharedDevice device,
      ServiceHandshake handshake,
      ServiceRequest request) {
    CmId child = child(listening, device, request.local(), request.remote(), request.path());
    try {
      return present(
          child,
          Service.asked(child, carrierKind(device), handshake, request),
          ConnectionParameters.DEFAULT.withPrivateData(request.privateData()));
    } catch (RuntimeException e) {
      child.closeWithoutPlace();
      throw e;
    }
  }

  /** Closes a request that could not be presented; its listener takes its place back. */
  private void closeWithoutPlace() {
    synchronized (this) {
      waitsAt = Optional.empty();
    }
    close();
  }

  private CmId child(
      Listening listening,
      SharedDevice device,
      InetSocketAddress to,
      InetSocketAddress from,
      Path back) {
    EventChannel own = synchronous ? EventChannel.open(devices) : channel();
    CmId child = new CmId(own, devices, space, synchronous);
    synchronized (child) {
      child.state = CmState.REQUESTED;
      child.local = to;
      child.remote = from;
      child.path = Optional.of(back);
      child.place =
          Optional.of(new CmDevices.Place(SharedDevice.of(device.context()), to.getAddress()));
      child.waitsAt = Optional.of(listening);
      child.options.carrier = Optional.of(carrierKind(device));
    }
    return child;
  }

  private synchronized CarrierKind carrierKind(SharedDevice device) {
    return options.carrier(device);
  }

  private boolean present(CmId child, End asked, ConnectionParameters parameters) {
    synchronized (child) {
      child.end = Optional.of(asked);
    }
    synchronized (this) {
      if (state == CmState.LISTENING) {
        post(CmEvent.of(child, CmEventType.CONNECT_REQUEST).with(parameters).from(this));
        return true;
      }
    }
    child.close();
    return false;
  }

  /** A request is no longer one that waits. */
  private void leaveBacklog() {
    waitsAt.ifPresent(Listening::leave);
    waitsAt = Optional.empty();
  }

  /**
   * {@code rdma_get_request}: waits for a peer to ask a synchronous listener; its identifier is
   * synchronous, too.
   *
   * @return empty when none asked within the time limit
   */
  public Optional<CmEvent> getRequest(Duration limit) throws InterruptedException {
    if (!synchronous) {
      throw new VerbsException(
          Errno.EINVAL, "the identifier has a channel, on which its requests arrive");
    }
    return channel().await(limit);
  }

  // Queue pair.

  /**
   * {@code rdma_create_qp}: a queue pair, in INIT for a connection and in RTS for datagrams. It is
   * closed with the identifier.
   *
   * @throws VerbsException EINVAL when there is one already, for a type of another port space, or a
   *     protection domain of another device
   */
  public synchronized QueuePair createQueuePair(ProtectionDomain domain, QueuePairConfig config) {
    Context context = context();
    if (queuePair.isPresent()) {
      throw new VerbsException(Errno.EINVAL, "the identifier has a queue pair");
    }
    if (!space.takes(config.type())) {
      throw new VerbsException(
          Errno.EINVAL, "a %s queue pair in port space %s".formatted(config.type(), space));
    }
    if (!domain.context().device().equals(context.device())) {
      throw new VerbsException(
          Errno.EINVAL,
          "the protection domain is of %s, the identifier's address of %s"
              .formatted(domain.context().device().name(), context.device().name()));
    }
    QueuePair made = domain.createQueuePair(config);
    try {
      if (space == PortSpace.UDP) {
        made.modify(QpAttributes.to(QpState.INIT).pkeyIndex(0).port(port()).qkey(UDP_QKEY));
        made.modify(QpAttributes.to(QpState.RTR));
        made.modify(QpAttributes.to(QpState.RTS).sendPsn(0));
      } else {
        made.modify(QpSetup.init(port(), QpSetup.access(context, 1)));
      }
    } catch (VerbsException e) {
      made.close();
      throw e;
    }
    queuePair = Optional.of(made);
    return made;
  }

  private int port() {
    return path.map(Path::port).orElse(1);
  }

  /**
   * {@code rdma_init_qp_attr}: the attributes that bring a queue pair of the program's to a state.
   *
   * @param to INIT, RTR or RTS
   * @throws VerbsException EINVAL before what they depend on is known
   */
  public synchronized QpAttributes initQueuePairAttributes(QpState to) {
    Context context = context();
    if (space == PortSpace.UDP) {
      return switch (to) {
        case INIT -> QpAttributes.to(to).pkeyIndex(0).port(port()).qkey(UDP_QKEY);
        case RTR -> QpAttributes.to(to);
        case RTS -> QpAttributes.to(to).sendPsn(0);
        default -> throw noAttributes(to);
      };
    }
    return switch (to) {
      case INIT -> QpSetup.init(port(), QpSetup.access(context, 1));
      case RTR -> connection("set up").setup(context).rtr();
      case RTS -> connection("set up").setup(context).rts();
      default -> throw noAttributes(to);
    };
  }

  private static VerbsException noAttributes(QpState to) {
    return new VerbsException(Errno.EINVAL, "a connection does not bring a queue pair to " + to);
  }

  // Connecting.

  /** {@code rdma_connect} with {@link ConnectionParameters#DEFAULT}. */
  public void connect() {
    connect(ConnectionParameters.DEFAULT);
  }

  /**
   * {@code rdma_connect}: ESTABLISHED follows, or CONNECT_RESPONSE if the identifier has no queue
   * pair, or REJECTED, UNREACHABLE, CONNECT_ERROR.
   *
   * @throws VerbsException EINVAL also when the parameters exceed the device
   */
  public void connect(ConnectionParameters parameters) {
    synchronized (this) {
      require("connect", CmState.ROUTE_RESOLVED);
      end = Optional.of(space == PortSpace.UDP ? question(parameters) : request(parameters));
      state = CmState.CONNECTING;
    }
    await(SYNCHRONOUS, CmEventType.ESTABLISHED, CmEventType.CONNECT_RESPONSE);
  }

  private Service question(ConnectionParameters parameters) {
    requireFits(parameters.data(), Service.MAX_REQUEST_DATA);
    return Service.ask(
        this,
        options.carrier(device()),
        carrier(device()),
        new ServiceRequest(
            space.serviceId(remote.getPort()), local, remote, knownPath(), parameters.data()));
  }

  private Connection request(ConnectionParameters parameters) {
    requireFits(parameters.data(), Connection.MAX_REQUEST_DATA);
    DeviceAttributes attributes = context().queryDevice();
    return Connection.ask(
        this,
        options.carrier(device()),
        carrier(device()),
        new ConnectRequest(
            space.serviceId(remote.getPort()),
            local,
            remote,
            knownPath(),
            Optional.empty(),
            queuePair.map(QueuePair::type).orElse(QpType.RC),
            queuePair.map(QueuePair::number).orElse(parameters.qpNumber()),
            hasSharedReceives(parameters),
            psn(attributes),
            served(parameters, attributes.maxQpReadAtomic()),
            outstanding(parameters, attributes.maxQpInitiatorReadAtomic()),
            parameters.retryCount(),
            parameters.rnrRetryCount(),
            parameters.flowControl(),
            knownPath().ackTimeout(attributes.localAckDelay()),
            parameters.data()));
  }

  private boolean hasSharedReceives(ConnectionParameters parameters) {
    return queuePair
        .map(pair -> pair.sharedReceiveQueue().isPresent())
        .orElse(parameters.sharedReceiveQueue());
  }

  private static int served(ConnectionParameters parameters, int most) {
    return limited("responder resources", parameters.responderResources(), most);
  }

  private static int outstanding(ConnectionParameters parameters, int most) {
    return limited("initiator depth", parameters.initiatorDepth(), most);
  }

  private static int limited(String what, int asked, int most) {
    if (asked == ConnectionParameters.MAXIMUM) {
      return Math.min(most, ConnectionParameters.MAXIMUM);
    }
    if (asked > most) {
      throw new VerbsException(
          Errno.EINVAL, "%s of %d: the device has %d".formatted(what, asked, most));
    }
    return asked;
  }

  private static int psn(DeviceAttributes attributes) {
    boolean low = attributes.has(DeviceQuirk.NO_PSN_WRAP);
    return ThreadLocalRandom.current().nextInt(low ? LOW_PSNS : PSNS);
  }

  /** {@code rdma_accept} with {@link ConnectionParameters#DEFAULT}. */
  public void accept() {
    accept(ConnectionParameters.DEFAULT);
  }

  /**
   * {@code rdma_accept}: brings the queue pair to RTS, then answers. ESTABLISHED follows when the
   * peer confirms; not with datagrams.
   *
   * @throws VerbsException EINVAL also when the parameters exceed the device
   */
  public void accept(ConnectionParameters parameters) {
    synchronized (this) {
      require("accept", CmState.REQUESTED);
      switch (end.orElseThrow()) {
        case Service service -> accept(service, parameters);
        case Connection connection -> accept(connection, parameters);
        case Listening _ -> throw new IllegalStateException("a listener is not asked");
      }
      leaveBacklog();
    }
    if (space == PortSpace.TCP) {
      await(SYNCHRONOUS, CmEventType.ESTABLISHED);
    }
  }

  private void accept(Service service, ConnectionParameters parameters) {
    requireFits(parameters.data(), Service.MAX_REPLY_DATA);
    int number = queuePair.map(QueuePair::number).orElse(parameters.qpNumber());
    service.accept(number, UDP_QKEY, parameters.data());
    state = CmState.CONNECTED;
  }

  private void accept(Connection connection, ConnectionParameters parameters) {
    requireFits(parameters.data(), Connection.MAX_REPLY_DATA);
    state = CmState.ACCEPTING;
    try {
      connection.accept(
          reply(connection.request(), parameters), () -> queuePair.ifPresent(connection::bringUp));
    } catch (VerbsException e) {
      state = CmState.REQUESTED;
      throw e;
    }
  }

  private ConnectReply reply(ConnectRequest request, ConnectionParameters parameters) {
    DeviceAttributes attributes = context().queryDevice();
    int served = served(parameters, attributes.maxQpReadAtomic());
    int outstanding = outstanding(parameters, attributes.maxQpInitiatorReadAtomic());
    return new ConnectReply(
        request.path(),
        queuePair.map(QueuePair::number).orElse(parameters.qpNumber()),
        hasSharedReceives(parameters),
        psn(attributes),
        Math.min(served, request.initiatorDepth()),
        Math.min(outstanding, request.responderResources()),
        parameters.rnrRetryCount(),
        parameters.flowControl(),
        attributes.localAckDelay(),
        parameters.data());
  }

  /** {@code rdma_reject}: refuses the peer, which gets REJECTED with status 28 and the data. */
  public synchronized void reject(byte[] privateData) {
    require("reject", CmState.REQUESTED, CmState.RESPONDED);
    end.orElseThrow().reject(PrivateData.of(privateData));
    leaveBacklog();
    state = CmState.FAILED;
    toError();
  }

  /**
   * {@code rdma_establish}: confirms CONNECT_RESPONSE, once the program has brought its queue pair
   * to RTS. No event follows.
   */
  public synchronized void establish() {
    require("establish", CmState.RESPONDED);
    connection("establish").confirm();
    state = CmState.CONNECTED;
  }

  /**
   * {@code rdma_notify} of {@link org.hghca.verbs.AsyncEventType#COMM_EST}: a passive queue pair
   * that the program holds in RTR has received its first message, which is as good as the peer's
   * confirmation. Queue pairs of {@link #createQueuePair} need it not: they are in RTS before the
   * peer can send, and the peer confirms by itself.
   */
  public synchronized void communicationEstablished() {
    require("establish", CmState.ACCEPTING, CmState.CONNECTED);
    connection("establish").firstPacket();
  }

  /**
   * {@code rdma_disconnect}: the queue pair goes to ERR, which flushes its requests, and the peer
   * is told. DISCONNECTED follows unless the peer has disconnected first, and TIMEWAIT_EXIT.
   */
  public void disconnect() {
    boolean first;
    synchronized (this) {
      require("disconnect", CmState.CONNECTED, CmState.LEFT_BY_PEER);
      first = state == CmState.CONNECTED;
      endConnection();
    }
    if (first) {
      await(SYNCHRONOUS, CmEventType.DISCONNECTED);
    }
  }

  /** Disconnects, if there is something to disconnect, and waits for nothing. */
  synchronized void endConnection() {
    if (state == CmState.CONNECTED || state == CmState.LEFT_BY_PEER) {
      toError();
      connection("disconnect").disconnect();
      state = state == CmState.CONNECTED ? CmState.DISCONNECTING : CmState.DISCONNECTED;
    }
  }

  private void toError() {
    if (space == PortSpace.TCP) {
      queuePair.ifPresent(pair -> pair.modify(QpAttributes.to(QpState.ERR)));
    }
  }

  // Multicast.

  /**
   * {@code rdma_join_multicast}: MULTICAST_JOIN follows, and who takes it has attached the queue
   * pair; or MULTICAST_ERROR.
   *
   * @param group an IPv4 or IPv6 group
   */
  public void joinMulticast(InetAddress group) {
    synchronized (this) {
      require(
          "join a group",
          CmState.BOUND,
          CmState.ADDRESS_RESOLVED,
          CmState.ROUTE_RESOLVED,
          CmState.CONNECTED);
      if (space != PortSpace.UDP || !Gid.of(group).isMulticast()) {
        throw new VerbsException(
            Errno.EINVAL, "port space UDP and the address of a group are needed");
      }
      post(CmEvent.of(this, CmEventType.MULTICAST_JOIN).with(destination(Gid.of(group))));
    }
    await(SYNCHRONOUS, CmEventType.MULTICAST_JOIN);
  }

  private DatagramParameters destination(Gid group) {
    int index = options.carrier(device()).sourceIndex(context(), local.getAddress());
    return new DatagramParameters(
        new AddressVector(group, index, 0, HOP_LIMIT, options.typeOfService, 0, port()),
        QueuePair.MULTICAST_NUMBER,
        UDP_QKEY);
  }

  /**
   * {@code rdma_leave_multicast}.
   *
   * @throws VerbsException EADDRNOTAVAIL when it has not joined the group
   */
  public synchronized void leaveMulticast(InetAddress group) {
    if (!groups.remove(Gid.of(group))) {
      throw new VerbsException(
          Errno.EADDRNOTAVAIL, "the identifier has not joined " + group.getHostAddress());
    }
    queuePair.ifPresent(pair -> pair.detachMulticast(Gid.of(group)));
  }

  // Events.

  /** Does what an event that is being taken requires, and returns what the program gets. */
  synchronized CmEvent taken(CmEvent event) {
    try {
      return switch (event.type()) {
        case CONNECT_RESPONSE -> queuePair.isPresent() ? complete(event) : event;
        case CONNECT_REQUEST -> {
          requestTaken = true;
          if (state == CmState.FAILED) {
            leaveBacklog();
          }
          yield event;
        }
        case REJECTED -> {
          toError();
          yield event;
        }
        case MULTICAST_JOIN -> {
          Gid group = event.datagram().orElseThrow().vector().destination();
          queuePair.ifPresent(pair -> pair.attachMulticast(group));
          groups.add(group);
          yield event;
        }
        default -> event;
      };
    } catch (VerbsException e) {
      CmEventType failed =
          event.type() == CmEventType.MULTICAST_JOIN
              ? CmEventType.MULTICAST_ERROR
              : CmEventType.CONNECT_ERROR;
      return CmEvent.failure(this, failed, -e.errno().number(), e.getMessage());
    }
  }

  /** The peer has accepted: brings up the queue pair, and confirms. */
  private CmEvent complete(CmEvent event) {
    if (state != CmState.RESPONDED) {
      return state == CmState.FAILED
          ? failure()
          : event.as(CmEventType.ESTABLISHED); // taken before, and put back
    }
    Connection connection = connection("connect");
    try {
      connection.bringUp(queuePair.orElseThrow());
      connection.confirm();
    } catch (VerbsException e) {
      state = CmState.FAILED;
      connection.close();
      toError();
      throw e;
    }
    state = CmState.CONNECTED;
    return event.as(CmEventType.ESTABLISHED);
  }

  /** The connection failed before its response was taken: the failure is taken instead. */
  private CmEvent failure() {
    toError();
    return channel
        .removeFirstOf(this)
        .orElseGet(
            () ->
                CmEvent.failure(
                    this,
                    CmEventType.CONNECT_ERROR,
                    -Errno.EIO.number(),
                    "the connection failed before its response was taken"));
  }

  void post(CmEvent event) {
    synchronized (this) {
      if (state != CmState.CLOSED) {
        channel.post(event);
      }
    }
  }

  void delivered() {
    deliveries.add();
  }

  void undelivered() {
    deliveries.remove();
  }

  void acknowledged() {
    deliveries.remove();
  }

  /** Goes from one state to another, if it is in it. */
  synchronized boolean moves(CmState from, CmState to) {
    if (state != from) {
      return false;
    }
    state = to;
    return true;
  }

  /** Whether the peer has refused what was established: it is over. */
  synchronized boolean isTakenBack() {
    if (!moves(CmState.CONNECTED, CmState.DISCONNECTED)) {
      return false;
    }
    toError();
    return true;
  }

  /** A connection that is not established fails; says whether there was one. */
  synchronized boolean fails() {
    if (requestTaken) {
      leaveBacklog();
    }
    return moves(CmState.REQUESTED, CmState.FAILED)
        || moves(CmState.CONNECTING, CmState.FAILED)
        || moves(CmState.RESPONDED, CmState.FAILED)
        || moves(CmState.ACCEPTING, CmState.FAILED);
  }

  /**
   * {@code rdma_migrate_id}: waits until the events of the identifier are acknowledged, and moves
   * those that were not taken.
   */
  public void migrate(EventChannel to) {
    awaitAcknowledgements();
    synchronized (this) {
      requireOpen();
      to.add(this);
      place.ifPresent(where -> to.use(where.device()));
      channel.remove(this);
      List<CmEvent> moved = channel.removeOf(this);
      channel = to;
      moved.forEach(to::post);
    }
  }

  /** Of a synchronous identifier: waits for the event of a call. */
  private void await(Duration limit, CmEventType... wanted) {
    if (!synchronous) {
      return;
    }
    try {
      CmEvent event =
          channel()
              .await(limit)
              .orElseThrow(
                  () ->
                      new VerbsException(
                          Errno.ETIMEDOUT,
                          "no %s within %d ms".formatted(wanted[0].symbol(), limit.toMillis())));
      event.acknowledge();
      if (!List.of(wanted).contains(event.type())) {
        throw event.failure();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new VerbsException(
          Errno.EAGAIN, "interrupted while waiting for " + wanted[0].symbol(), e);
    }
  }

  private SharedDevice device() {
    return place
        .map(CmDevices.Place::device)
        .orElseThrow(
            () ->
                new VerbsException(
                    Errno.EINVAL, "the identifier has no device before an address is resolved"));
  }

  private Carrier carrier(SharedDevice device) {
    return device.carrier(options.carrier(device));
  }

  private Path knownPath() {
    return path.orElseThrow();
  }

  private Connection connection(String what) {
    if (end.isPresent() && end.get() instanceof Connection connection) {
      return connection;
    }
    throw new VerbsException(
        Errno.EINVAL, "cannot %s: the identifier has no connection".formatted(what));
  }

  static void requireFits(PrivateData data, int most) {
    if (data.length() > most) {
      throw new VerbsException(
          Errno.EINVAL, "%d bytes of private data: %d fit".formatted(data.length(), most));
    }
  }

  private void requireOpen() {
    if (state == CmState.CLOSED) {
      throw new VerbsException(Errno.EINVAL, "the identifier is closed");
    }
  }

  private void require(String what, CmState... possible) {
    if (!List.of(possible).contains(state)) {
      throw new VerbsException(
          Errno.EINVAL, "cannot %s: the identifier is %s".formatted(what, state));
    }
  }

  private void awaitAcknowledgements() {
    try {
      int left = deliveries.awaitNone(ACKNOWLEDGEMENT);
      if (left > 0) {
        throw new VerbsException(
            Errno.EBUSY, "%d events of the identifier are not acknowledged".formatted(left));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new VerbsException(
          Errno.EBUSY, "interrupted while waiting for the acknowledgement of events", e);
    }
  }

  /**
   * {@code rdma_destroy_ep}: ends the connection, drops events that were not taken, waits until
   * those that were are acknowledged, and closes the queue pair of {@link #createQueuePair}. A
   * listener refuses the requests that were not taken. Idempotent.
   *
   * @throws VerbsException EBUSY when events are not acknowledged within 60 s; the identifier is
   *     then still open
   */
  @Override
  public void close() {
    awaitAcknowledgements();
    Optional<End> ended;
    List<CmEvent> untaken;
    synchronized (this) {
      if (state == CmState.CLOSED) {
        return;
      }
      state = CmState.CLOSED;
      ended = end;
      leaveBacklog();
      untaken = channel.removeOf(this);
    }
    ended.ifPresent(End::close);
    for (CmEvent event : untaken) {
      if (event.type() == CmEventType.CONNECT_REQUEST) {
        event.id().close();
      }
    }
    releaseAll();
  }

  private void releaseAll() {
    synchronized (this) {
      queuePair.ifPresent(pair -> groups.forEach(pair::detachMulticast));
      groups.clear();
      queuePair.ifPresent(QueuePair::close);
      binding.ifPresent(Ports.Binding::close);
      place.ifPresent(where -> where.device().release());
      listeningPlaces.forEach(where -> where.device().release());
      place = Optional.empty();
      listeningPlaces = List.of();
    }
    channel.remove(this);
    if (synchronous) {
      channel.close();
    }
  }

  @Override
  public synchronized String toString() {
    return "%s identifier %s -> %s, %s".formatted(space, local, remote, state);
  }
}
