package org.hghca.programs.perf.medium;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmEventType;
import org.hghca.cm.CmId;
import org.hghca.cm.EventChannel;
import org.hghca.cm.PortSpace;
import org.hghca.programs.peer.PeerException;
import org.hghca.programs.perf.Parameters;

/**
 * Identifiers of the connection manager on the device of a side, and waits for their events. One
 * thread uses it.
 */
public final class CmEvents implements AutoCloseable {
  /** How long perftest waits for an address, and for a route. */
  private static final Duration RESOLUTION = Duration.ofSeconds(2);

  private final EventChannel channel;
  private final Parameters.Route route;

  public CmEvents(Device device) {
    channel = EventChannel.open(device.context());
    route = device.route();
  }

  /** An identifier that listens on all addresses of the device. */
  public CmId listen(PortSpace space, int port, int backlog) {
    CmId listener = channel.createId(space);
    try {
      listener.bind(new InetSocketAddress(port));
      listener.listen(backlog);
      return listener;
    } catch (RuntimeException e) {
      listener.close();
      throw e;
    }
  }

  /** An identifier with a route to a server. */
  public CmId resolve(PortSpace space, InetSocketAddress server) throws InterruptedException {
    CmId id = channel.createId(space);
    try {
      id.resolveAddress(server, RESOLUTION);
      await(CmEventType.ADDR_RESOLVED, text(server)).close();
      id.ackTimeout(route.timeout());
      id.typeOfService(route.trafficClass());
      id.resolveRoute(RESOLUTION);
      await(CmEventType.ROUTE_RESOLVED, text(server)).close();
      return id;
    } catch (RuntimeException | InterruptedException e) {
      id.close();
      throw e;
    }
  }

  /** An address and a port. */
  public static String text(InetSocketAddress address) {
    String host = address.getAddress().getHostAddress();
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
  }

  /**
   * Waits for an event, as long as for a message.
   *
   * @param peer for errors
   * @throws PeerException when another one comes, or none
   */
  CmEvent await(CmEventType wanted, String peer) throws InterruptedException {
    CmEvent event = next(Conversation.SOON).orElseThrow(() -> silent(peer));
    if (event.type() != wanted) {
      throw unexpected(event, peer);
    }
    return event;
  }

  /** The failure of a peer that does not answer. */
  public static PeerException silent(String peer) {
    return new PeerException(
        "%s: the connection manager there is silent for %d seconds; a peer must have the same -R or -z"
            .formatted(peer, Conversation.SOON.toSeconds()));
  }

  /** The failure that an event reports, which it acknowledges. */
  public static PeerException unexpected(CmEvent event, String peer) {
    event.acknowledge();
    boolean refused = event.type() == CmEventType.REJECTED;
    return new PeerException(
        "%s: %s%s".formatted(peer, event, refused ? "; a server must have the same -R or -z" : ""));
  }

  /** Waits for a client that asks for a connection, for any time. */
  CmEvent awaitRequest() throws InterruptedException {
    CmEvent event = channel.await();
    if (event.type() != CmEventType.CONNECT_REQUEST) {
      throw unexpected(event, "this side");
    }
    return event;
  }

  /**
   * Waits for the next event that is not the end of a time wait.
   *
   * @return empty when none comes in time
   */
  public Optional<CmEvent> next(Duration limit) throws InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    while (true) {
      Duration left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
      Optional<CmEvent> event = channel.await(left);
      if (event.isEmpty() || event.get().type() != CmEventType.TIMEWAIT_EXIT) {
        return event;
      }
      event.get().acknowledge();
    }
  }

  /** The channel, for who takes all further events. */
  EventChannel channel() {
    return channel;
  }

  @Override
  public void close() {
    channel.close();
  }
}
