package org.hghca.sockets.stream;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.hghca.cm.CmDevices;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmEventType;
import org.hghca.cm.CmId;
import org.hghca.cm.EventChannel;
import org.hghca.cm.PortSpace;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.DeviceQuirk;
import org.hghca.verbs.Errno;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Streams over a device of the verbs. */
public final class RdmaStreamDevice implements StreamDevice {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaStreamDevice.class);

  private final Context context;
  private final ProtectionDomain domain;
  private final EventChannel channel;
  private final Engines engines;
  private final Optional<CmId> answerer;
  private final Map<CmId, CmHandler> handlers = new ConcurrentHashMap<>();
  private final Set<Endpoint> endpoints = ConcurrentHashMap.newKeySet();
  private final AtomicLong connected = new AtomicLong();
  private final AtomicLong accepted = new AtomicLong();

  /** Of endpoints that are closed; its monitor tells of each that is, and of each identifier. */
  private final Traffic past = new Traffic();

  private boolean closed;

  private RdmaStreamDevice(Context context) {
    this.context = context;
    this.domain = context.allocateProtectionDomain();
    this.channel = EventChannel.open(CmDevices.of(context));
    this.engines = new Engines(context);
    this.answerer = answerer();
  }

  /**
   * Opens a device.
   *
   * @param nameOrLocator as of {@link RdmaDevices#open}
   * @throws VerbsException as {@link RdmaDevices#open}; EOPNOTSUPP for a device that delivers no
   *     immediates, or has no messages of no bytes
   */
  public static RdmaStreamDevice open(String nameOrLocator) {
    Context context = RdmaDevices.open(nameOrLocator);
    try {
      requireMessages(context);
      RdmaStreamDevice device = new RdmaStreamDevice(context);
      Thread.ofVirtual().name("hghca-streams").start(device::dispatch);
      return device;
    } catch (VerbsException e) {
      context.close();
      throw e;
    }
  }

  private static void requireMessages(Context context) {
    DeviceAttributes attributes = context.queryDevice();
    if (!attributes.has(DeviceFeature.ZERO_LENGTH)
        || attributes.has(DeviceQuirk.NO_IMMEDIATE_VALUE)) {
      throw new VerbsException(
          Errno.EOPNOTSUPP,
          "streams need immediates and messages of no bytes, which %s does not have"
              .formatted(context.device().name()));
    }
  }

  /**
   * Listens on a port that nobody knows: while an identifier listens, peers that ask for ports
   * without a listener are refused, and need not wait in vain. Where TCP carries the handshakes the
   * kernel refuses them.
   */
  private Optional<CmId> answerer() {
    if (!context.queryDevice().has(DeviceFeature.GSI_QUEUE_PAIR)) {
      return Optional.empty();
    }
    CmId id = channel.createId(PortSpace.TCP);
    id.listen(1);
    return Optional.of(id);
  }

  Engines engines() {
    return engines;
  }

  ProtectionDomain domain() {
    return domain;
  }

  // Events of the connection manager.

  private void dispatch() {
    try {
      while (true) {
        CmEvent event = channel.await();
        event.acknowledge();
        dispatch(event);
      }
    } catch (VerbsException e) {
      LOG.debug("{} is closed", context.device().name());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void dispatch(CmEvent event) {
    CmHandler handler = handlers.get(event.listener().orElse(event.id()));
    if (handler == null) {
      if (event.type() == CmEventType.CONNECT_REQUEST) {
        close(event.id());
      }
      return;
    }
    try {
      handler.happened(event);
    } catch (RuntimeException e) {
      LOG.error("{} was not handled", event, e);
    }
  }

  /** Passes the events of an identifier to a handler from now on. */
  void handle(CmId id, CmHandler handler) {
    handlers.put(id, handler);
  }

  /** Closes an identifier, of which no event is passed on afterwards. */
  void close(CmId id) {
    try {
      id.close();
    } catch (VerbsException e) {
      LOG.warn("{} is not closed", id, e);
    }
    synchronized (past) {
      handlers.remove(id);
      past.notifyAll();
    }
  }

  // Streams.

  @Override
  public List<InetAddress> addresses() {
    return context.queryGidTable().stream()
        .map(GidEntry::gid)
        .filter(gid -> !gid.isLinkLocal())
        .map(gid -> gid.address())
        .distinct()
        .toList();
  }

  @Override
  public PendingConnect connect(
      InetSocketAddress local, InetSocketAddress remote, StreamOptions options) throws IOException {
    if (local != null) {
      requireOwn(local);
    }
    CmId id = identifier();
    RdmaPendingConnect connect = new RdmaPendingConnect(this, id, options);
    handle(id, connect);
    try {
      connect.begin(local, remote);
      return connect;
    } catch (VerbsException e) {
      close(id);
      throw ConnectFailures.of(e);
    }
  }

  private void requireOwn(InetSocketAddress local) throws BindException {
    InetAddress address = local.getAddress();
    if (!address.isAnyLocalAddress() && !addresses().contains(address)) {
      throw new BindException("Cannot assign requested address");
    }
  }

  private CmId identifier() throws IOException {
    try {
      return channel.createId(PortSpace.TCP);
    } catch (VerbsException e) {
      throw ConnectFailures.of(e);
    }
  }

  @Override
  public StreamListener listen(InetSocketAddress local, int backlog, StreamOptions options)
      throws IOException {
    requireOwn(local);
    CmId id = identifier();
    RdmaStreamListener listener = new RdmaStreamListener(this, id, backlog, options);
    handle(id, listener);
    try {
      listener.begin(local);
    } catch (VerbsException e) {
      close(id);
      throw ConnectFailures.of(e);
    }
    return listener;
  }

  void connected() {
    connected.incrementAndGet();
  }

  void accepted() {
    accepted.incrementAndGet();
  }

  void made(Endpoint endpoint) {
    endpoints.add(endpoint);
  }

  void closed(Endpoint endpoint) {
    synchronized (past) {
      if (endpoints.remove(endpoint)) {
        past.add(endpoint);
      }
      past.notifyAll();
    }
  }

  @Override
  public StreamCounters counters() {
    synchronized (past) {
      Traffic all = past.copy();
      endpoints.forEach(all::add);
      long open = endpoints.stream().filter(Endpoint::isOpen).count();
      return all.counters(connected.get(), accepted.get(), open);
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    handlers.values().forEach(CmHandler::abandon);
    awaitNothingOpen();
    answerer.ifPresent(this::close);
    channel.close();
    domain.close();
    engines.close();
    context.close();
  }

  @Override
  public boolean progress() {
    return engines.progress();
  }

  @Override
  public void beginPolling() {
    engines.beginPolling();
  }

  @Override
  public void endPolling() {
    engines.endPolling();
  }

  /** Streams that were closed end by themselves, and in a limited time. */
  private void awaitNothingOpen() {
    boolean interrupted = false;
    synchronized (past) {
      while (!handlers.isEmpty() || !endpoints.isEmpty()) {
        try {
          past.wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public String toString() {
    return "streams over " + context.device().name();
  }
}
