package org.hghca.cm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Handshake;
import org.hghca.cm.carrier.Path;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.ServiceHandshake;
import org.hghca.cm.carrier.ServiceRequest;
import org.hghca.cm.device.DeviceCarriers;
import org.hghca.cm.device.Releases;
import org.hghca.cm.device.SharedDevice;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
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
  public static final int UDP_QKEY = DatagramParameters.UDP_QKEY;

  /** Requests that wait to be accepted, if {@link #listen} does not say how many. */
  public static final int MAX_BACKLOG = 1024;

  private final CmDevices devices;
  private final PortSpace space;
  private final Calls calls;
  private final Deliveries deliveries = new Deliveries();
  private final BacklogPlace place;
  private final Lifecycle life;
  private final Addressing addressing;
  private final IdQueuePair queuePair;
  private final Set<DeviceCarriers> failed = new HashSet<>();
  private Optional<End> end = Optional.empty();
  private EventChannel channel;

  CmId(EventChannel channel, CmDevices devices, PortSpace space, boolean synchronous) {
    this(channel, devices, space, synchronous, CmState.IDLE, BacklogPlace.none());
  }

  private CmId(
      EventChannel channel,
      CmDevices devices,
      PortSpace space,
      boolean synchronous,
      CmState state,
      BacklogPlace place) {
    this.devices = devices;
    this.space = Objects.requireNonNull(space);
    this.place = place;
    this.channel = channel;
    this.life = new Lifecycle(state, place, report -> this.channel.post(CmEvent.of(this, report)));
    this.calls = new Calls(this, synchronous);
    this.addressing = new Addressing(life, devices, space, device -> channel().use(device));
    this.queuePair = new IdQueuePair(space);
    channel.add(this);
  }

  /** A synchronous identifier: {@code rdma_create_id} without a channel. */
  public static CmId open(PortSpace space, CmDevices devices) {
    return new CmId(EventChannel.open(devices), devices, space, true);
  }

  /** Its lock. */
  Lifecycle life() {
    return life;
  }

  /** The port space. */
  public PortSpace portSpace() {
    return space;
  }

  /** Where events arrive: of a synchronous identifier, its own. */
  public EventChannel channel() {
    synchronized (life) {
      return channel;
    }
  }

  /** {@code rdma_get_local_addr}; the wildcard address with port 0 before it is known. */
  public InetSocketAddress localAddress() {
    synchronized (life) {
      return addressing.local();
    }
  }

  /** {@code rdma_get_peer_addr}; the wildcard address with port 0 before it is known. */
  public InetSocketAddress remoteAddress() {
    synchronized (life) {
      return addressing.remote();
    }
  }

  /**
   * The device, with which protection domains and completion queues are made.
   *
   * @throws VerbsException EINVAL before an address is bound or resolved
   */
  public Context context() {
    synchronized (life) {
      return addressing.device().context();
    }
  }

  /** The queue pair that {@link #createQueuePair} made. */
  public Optional<QueuePair> queuePair() {
    synchronized (life) {
      return queuePair.get();
    }
  }

  /** The path, once the route is resolved: where messages go, without the peer's number. */
  public Optional<AddressVector> path() {
    synchronized (life) {
      return addressing.path().map(Path::vector);
    }
  }

  /** {@code RDMA_OPTION_ID_TOS}: the traffic class of the path, 8 bits; before resolveRoute. */
  public void typeOfService(int trafficClass) {
    synchronized (life) {
      addressing.options().typeOfService(trafficClass);
    }
  }

  /** {@code RDMA_OPTION_ID_REUSEADDR}: others that say so, too, may bind the port. */
  public void reuseAddress(boolean on) {
    synchronized (life) {
      addressing.options().reuseAddress(on);
    }
  }

  /** {@code RDMA_OPTION_ID_ACK_TIMEOUT}: the code of 5 bits; before resolveRoute. */
  public void ackTimeout(int code) {
    synchronized (life) {
      addressing.options().ackTimeout(code);
    }
  }

  /**
   * The carrier, before it is used. Without it {@code -Dhghca.cm.carrier} says it, or what the
   * device announces. Both ends must use the same.
   */
  public void carrier(CarrierKind kind) {
    synchronized (life) {
      addressing.options().carrier(kind);
    }
  }

  // Addresses.

  /**
   * {@code rdma_bind_addr}.
   *
   * @param address of a device, or the wildcard address; port 0 for any free one
   * @throws VerbsException EADDRINUSE when the port is taken; ENODEV when no device has the address
   */
  public void bind(InetSocketAddress address) {
    addressing.bind(address);
  }

  /**
   * {@code rdma_resolve_addr} from any local address: ADDR_RESOLVED or ADDR_ERROR follows.
   *
   * @param to the wildcard address for this host: the device's own address
   * @param limit for finding and opening the device; then ADDR_ERROR with ETIMEDOUT
   * @throws VerbsException ENETUNREACH for a broadcast address, and in port space TCP for that of a
   *     multicast group
   */
  public void resolveAddress(InetSocketAddress to, Duration limit) {
    Duration enough = limit.plus(Calls.LIMIT); // its event comes within the limit
    calls.run(() -> addressing.resolve(to, limit), enough, CmEventType.ADDR_RESOLVED);
  }

  /** {@code rdma_resolve_addr} from a local address. */
  public void resolveAddress(InetSocketAddress from, InetSocketAddress to, Duration limit) {
    bind(from);
    resolveAddress(to, limit);
  }

  /** {@code rdma_resolve_route}: ROUTE_RESOLVED or ROUTE_ERROR follows. */
  public void resolveRoute(Duration limit) {
    calls.run(() -> addressing.resolveRoute(limit), limit, CmEventType.ROUTE_RESOLVED);
  }

  // Listening.

  /**
   * {@code rdma_listen}: CONNECT_REQUEST follows for each peer that asks.
   *
   * @param backlog requests that wait to be accepted; 0 or less, or more than {@link #MAX_BACKLOG},
   *     is {@link #MAX_BACKLOG}. One address takes all of them but one in 64, which is left to
   *     others
   * @throws VerbsException EADDRINUSE, EADDRNOTAVAIL, EACCES as the carrier finds; with the
   *     wildcard address ENODEV or EBUSY when no device can be used, with the reason of each
   */
  public void listen(int backlog) {
    Listening listening =
        new Listening(this, backlog <= 0 ? MAX_BACKLOG : Math.min(backlog, MAX_BACKLOG));
    try {
      synchronized (life) {
        life.require("listen", CmState.IDLE, CmState.BOUND);
        if (life.state() == CmState.IDLE) {
          bind(new InetSocketAddress(0));
        }
        listening.listen(devices, addressing).forEach(channel::use);
        end = Optional.of(listening);
        life.to(CmState.LISTENING);
      }
    } catch (RuntimeException e) {
      listening.close(); // without the lock: a device may be released
      throw e;
    }
  }

  /** A new identifier for a request to this one, which waits in its backlog. */
  CmId child(BacklogPlace waiting) {
    EventChannel own = calls.areSynchronous() ? EventChannel.open(devices) : channel();
    return new CmId(own, devices, space, calls.areSynchronous(), CmState.REQUESTED, waiting);
  }

  /** Becomes the passive end of a connection. */
  ConnectionEnd becomePassive(
      SharedDevice device, CarrierKind kind, Handshake handshake, ConnectRequest request) {
    ConnectionEnd connection = ConnectionEnd.passive(life, queuePair, kind, handshake, request);
    synchronized (life) {
      addressing.bind(device, kind, request.local(), request.remote(), request.path());
      end = Optional.of(connection);
    }
    return connection;
  }

  /** Becomes the end that serves datagrams. */
  void becomeService(
      SharedDevice device, CarrierKind kind, ServiceHandshake handshake, ServiceRequest request) {
    synchronized (life) {
      addressing.bind(device, kind, request.local(), request.remote(), request.path());
      end = Optional.of(Service.passive(life, queuePair, kind, handshake, request));
    }
  }

  CarrierKind kind(SharedDevice device) {
    return addressing.kind(device);
  }

  /** Reports a request to this listener; says whether it still listens. */
  boolean present(CmId child, ConnectionParameters parameters) {
    synchronized (life) {
      boolean listens = life.state() == CmState.LISTENING;
      if (listens) {
        channel.post(CmEvent.request(child, this, parameters));
      }
      return listens;
    }
  }

  /**
   * {@code rdma_get_request}: waits for a peer to ask a synchronous listener; its identifier is
   * synchronous, too.
   *
   * @return empty when none asked within the time limit
   */
  public Optional<CmEvent> getRequest(Duration limit) throws InterruptedException {
    calls.requireSynchronous();
    return channel().await(limit);
  }

  /**
   * {@code rdma_create_qp}: a queue pair, in INIT for a connection and in RTS for datagrams. It is
   * closed with the identifier.
   *
   * @throws VerbsException EINVAL when there is one already, for a type of another port space, or a
   *     protection domain of another device
   */
  public QueuePair createQueuePair(ProtectionDomain domain, QueuePairConfig config) {
    synchronized (life) {
      return queuePair.create(context(), addressing.port(), domain, config);
    }
  }

  /**
   * {@code rdma_init_qp_attr}: the attributes that bring a queue pair of the program's to a state.
   * At the passive end RTR and RTS are known from the request on, as for {@link #accept()}.
   *
   * @param to INIT, RTR or RTS
   * @throws VerbsException EINVAL before what they depend on is known
   */
  public QpAttributes initQueuePairAttributes(QpState to) {
    synchronized (life) {
      return queuePair.attributes(
          to, context(), addressing.port(), () -> connection("set up").setup(context()));
    }
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
    calls.run(
        () -> begin(parameters),
        Calls.LIMIT,
        CmEventType.ESTABLISHED,
        CmEventType.CONNECT_RESPONSE);
  }

  private void begin(ConnectionParameters parameters) {
    synchronized (life) {
      life.require("connect", CmState.ROUTE_RESOLVED);
      end =
          Optional.of(
              space == PortSpace.UDP
                  ? Service.ask(life, queuePair, addressing, parameters)
                  : ConnectionEnd.ask(life, queuePair, addressing, parameters));
    }
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
    calls.run(() -> answer(parameters), Calls.LIMIT, CmEventType.ESTABLISHED);
  }

  /** Says whether an event follows. */
  private boolean answer(ConnectionParameters parameters) {
    synchronized (life) {
      life.require("accept", CmState.REQUESTED);
      end.orElseThrow().accept(context(), parameters);
      place.leave();
    }
    return space == PortSpace.TCP;
  }

  /** {@code rdma_reject}: refuses the peer, which gets REJECTED with status 28 and the data. */
  public void reject(byte[] privateData) {
    synchronized (life) {
      life.require("reject", CmState.REQUESTED, CmState.RESPONDED);
      end.orElseThrow().reject(PrivateData.of(privateData));
      place.leave();
    }
  }

  /**
   * {@code rdma_establish}: confirms CONNECT_RESPONSE, once the program has brought its queue pair
   * to RTS. No event follows.
   */
  public void establish() {
    synchronized (life) {
      life.require("establish", CmState.RESPONDED);
      connection("establish").establish();
    }
  }

  /**
   * {@code rdma_notify} of {@link org.hghca.verbs.AsyncEventType#COMM_EST}: a passive queue pair
   * that the program holds in RTR has received its first message, which is as good as the peer's
   * confirmation. Queue pairs of {@link #createQueuePair} do not need it: they are in RTS before
   * the peer can send, and the peer confirms by itself.
   */
  public void communicationEstablished() {
    synchronized (life) {
      life.require("establish", CmState.ACCEPTING, CmState.CONNECTED);
      connection("establish").firstPacket();
    }
  }

  /**
   * {@code rdma_disconnect}: the queue pair goes to ERR, which flushes its requests, and the peer
   * is told. DISCONNECTED follows unless the peer has disconnected first, and TIMEWAIT_EXIT.
   */
  public void disconnect() {
    BooleanSupplier disconnect =
        () -> {
          synchronized (life) {
            life.require("disconnect", CmState.CONNECTED, CmState.LEFT_BY_PEER);
            return endConnection();
          }
        };
    calls.run(disconnect, Calls.LIMIT, CmEventType.DISCONNECTED);
  }

  /**
   * Disconnects, if there is something to disconnect, and waits for nothing.
   *
   * @return whether this end is the first, so that an event follows
   */
  boolean endConnection() {
    synchronized (life) {
      boolean first = life.state() == CmState.CONNECTED;
      if (first || life.state() == CmState.LEFT_BY_PEER) {
        connection("disconnect").disconnect();
      }
      return first;
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
    calls.run(() -> join(group), Calls.LIMIT, CmEventType.MULTICAST_JOIN);
  }

  private void join(InetAddress group) {
    synchronized (life) {
      life.require(
          "join a group",
          CmState.BOUND,
          CmState.ADDRESS_RESOLVED,
          CmState.ROUTE_RESOLVED,
          CmState.CONNECTED);
      life.post(Report.of(CmEventType.MULTICAST_JOIN).with(addressing.to(Gid.of(group))));
    }
  }

  /**
   * {@code rdma_leave_multicast}.
   *
   * @throws VerbsException EADDRNOTAVAIL when it has not joined the group
   */
  public void leaveMulticast(InetAddress group) {
    synchronized (life) {
      queuePair.leave(group);
    }
  }

  // Events.

  /** Does what an event that is being taken requires, and returns what the program gets. */
  CmEvent onTaken(CmEvent event) {
    synchronized (life) {
      try {
        return switch (event.type()) {
          case CONNECT_RESPONSE ->
              event.with(
                  connection("connect")
                      .onTaken(
                          event.report(), () -> channel.removeFirstOf(this).map(CmEvent::report)));
          case CONNECT_REQUEST -> {
            place.onTaken(life.state() == CmState.FAILED);
            yield event;
          }
          case REJECTED -> {
            queuePair.toError();
            yield event;
          }
          case MULTICAST_JOIN -> {
            queuePair.join(event.datagram().orElseThrow().vector().destination());
            yield event;
          }
          default -> event;
        };
      } catch (VerbsException e) {
        return event.with(
            Report.failure(
                event.type() == CmEventType.MULTICAST_JOIN
                    ? CmEventType.MULTICAST_ERROR
                    : CmEventType.CONNECT_ERROR,
                e));
      }
    }
  }

  /** A device has failed, of which an event tells once if the identifier uses it. */
  void failed(DeviceCarriers device, VerbsException cause) {
    synchronized (life) {
      boolean listens =
          end.isPresent() && end.get() instanceof Listening listening && listening.uses(device);
      if ((listens || addressing.uses(device)) && failed.add(device)) {
        life.post(Report.failure(CmEventType.DEVICE_REMOVAL, cause));
      }
    }
  }

  /** The events that were taken and not acknowledged. */
  Deliveries deliveries() {
    return deliveries;
  }

  /**
   * {@code rdma_migrate_id}: waits until the events of the identifier are acknowledged, and moves
   * those that were not taken.
   */
  public void migrate(EventChannel to) {
    deliveries.awaitNone();
    synchronized (life) {
      life.requireOpen();
      to.add(this);
      channel.remove(this);
      List<CmEvent> untaken = channel.removeOf(this);
      channel = to;
      untaken.forEach(to::post);
      addressing.place().ifPresent(where -> to.use(where.device()));
    }
  }

  /** Why it failed, if it was not this end. */
  Optional<VerbsException> failure() {
    return life.failure();
  }

  private ConnectionEnd connection(String what) {
    if (end.isPresent() && end.get() instanceof ConnectionEnd connection) {
      return connection;
    }
    throw new VerbsException(
        Errno.EINVAL, "cannot %s: the identifier has no connection".formatted(what));
  }

  /**
   * {@code rdma_destroy_ep}: ends the connection, drops events that were not taken, waits until
   * those that were are acknowledged, and closes the queue pair of {@link #createQueuePair}. A
   * listener refuses the requests that were not taken. Idempotent; a second closer does not wait
   * for the first.
   *
   * @throws VerbsException EBUSY when events are not acknowledged within 60 s; the identifier is
   *     then still open. The failure of a release, after which the others were made all the same
   */
  @Override
  public void close() {
    deliveries.awaitNone();
    Releases releases = new Releases();
    synchronized (life) {
      if (life.state() == CmState.CLOSED) {
        return;
      }
      life.to(CmState.CLOSED);
      place.leave();
      end.ifPresent(open -> releases.add(open::close));
      for (CmEvent event : channel.removeOf(this)) {
        if (event.type() == CmEventType.CONNECT_REQUEST) {
          releases.add(event.id()::close);
        }
      }
      queuePair.release(releases);
      addressing.release(releases);
      EventChannel own = channel;
      releases.add(() -> own.remove(this));
      if (calls.areSynchronous()) {
        releases.add(own::close);
      }
    }
    releases.run();
  }

  @Override
  public String toString() {
    synchronized (life) {
      return "%s identifier %s -> %s, %s"
          .formatted(space, addressing.local(), addressing.remote(), life.state());
    }
  }
}
