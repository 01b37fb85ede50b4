package org.hghca.sockets.stream;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.hghca.cm.CmDevices;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmEventType;
import org.hghca.cm.CmId;
import org.hghca.cm.EventChannel;
import org.hghca.cm.PortSpace;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.sockets.protocol.Framing;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.DeviceQuirk;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.VerbsException;

/**
 * What the streams and listeners of a device share: a protection domain, engines, identifiers of
 * the connection manager with who takes their events, and the account of all. Thread-safe.
 */
final class StreamResources implements AutoCloseable {
  private static final ConditionLog LOG = ConditionLog.of(StreamResources.class);

  private final String deviceName;
  private final Framing framing;
  private final ProtectionDomain domain;
  private final EventChannel channel;
  private final Engines engines;
  private final Map<CmId, CmHandler> handlers = new ConcurrentHashMap<>();
  private final Set<Endpoint> endpoints = ConcurrentHashMap.newKeySet();
  private final AtomicLong connected = new AtomicLong();
  private final AtomicLong accepted = new AtomicLong();

  /** Of endpoints that are closed; its monitor tells of each that is, and of each identifier. */
  private final Traffic past = new Traffic();

  /** The resources of a device, without {@link #dispatch events} yet. */
  StreamResources(Context context) {
    deviceName = context.device().name();
    framing = framing(context.queryDevice());
    domain = context.allocateProtectionDomain();
    channel = EventChannel.open(CmDevices.of(context));
    engines = new Engines(context);
  }

  private static Framing framing(DeviceAttributes attributes) {
    return attributes.has(DeviceFeature.ZERO_LENGTH)
            && !attributes.has(DeviceQuirk.NO_IMMEDIATE_VALUE)
        ? Framing.WRITES
        : Framing.MESSAGES;
  }

  /** How the device carries messages. */
  Framing framing() {
    return framing;
  }

  ProtectionDomain domain() {
    return domain;
  }

  Engines engines() {
    return engines;
  }

  private About about() {
    return About.device(deviceName);
  }

  // Identifiers, and events of the connection manager.

  CmId createId() {
    return channel.createId(PortSpace.TCP);
  }

  /** Passes events on until this is closed. */
  void dispatch() {
    try {
      while (true) {
        CmEvent event = channel.await();
        event.acknowledge();
        dispatch(event);
      }
    } catch (VerbsException e) {
      LOG.debug(about(), "closed");
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
      LOG.error(about(), "{} was not handled", event, e);
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
      LOG.warn(about(), "{} is not closed: {}", id, e.getMessage());
    }
    synchronized (past) {
      handlers.remove(id);
      past.notifyAll();
    }
  }

  // The account.

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
        past.add(endpoint.out(), endpoint.in());
      }
      past.notifyAll();
    }
  }

  StreamCounters counters() {
    synchronized (past) {
      Traffic all = past.copy();
      endpoints.forEach(endpoint -> all.add(endpoint.out(), endpoint.in()));
      long open = endpoints.stream().filter(Endpoint::isOpen).count();
      return all.counters(connected.get(), accepted.get(), open);
    }
  }

  // Their end.

  /** Ends all connections and listeners, and waits until they have ended, in a limited time. */
  void endAll() {
    handlers.values().forEach(CmHandler::abandon);
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

  /** Frees them; nothing is connected any more. */
  @Override
  public void close() {
    channel.close();
    domain.close();
    engines.close();
  }
}
