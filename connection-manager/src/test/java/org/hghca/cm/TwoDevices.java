package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.cm.device.DeviceCarriers;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Context;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;

/** Two devices on a cable, each with a channel; checks at its end that nothing is left. */
final class TwoDevices implements AutoCloseable {
  static final Duration SOON = Duration.ofSeconds(20);
  private static final AtomicInteger CABLES = new AtomicInteger();

  final CarrierKind kind;
  final Device client;
  final Device server;

  /** A device with a channel, a protection domain and a completion queue. */
  static final class Device implements AutoCloseable {
    final Context context;
    final EventChannel channel;
    final ProtectionDomain pd;
    final CompletionQueue cq;
    private final List<CmId> ids = new ArrayList<>();

    private Device(String locator) {
      context = RdmaDevices.open(locator);
      channel = EventChannel.open(context);
      pd = context.allocateProtectionDomain();
      cq = context.createCompletionQueue(256);
    }

    CmId id(PortSpace space) {
      return keep(channel.createId(space));
    }

    CmId keep(CmId id) {
      ids.add(id);
      return id;
    }

    QueuePairConfig config(PortSpace space) {
      return QueuePairConfig.of(space == PortSpace.UDP ? QpType.UD : QpType.RC, cq, cq);
    }

    /** Takes the next event, which must be of a type. */
    CmEvent take(CmEventType type) throws InterruptedException {
      CmEvent event = channel.await(SOON).orElseThrow();
      event.acknowledge();
      assertThat(event.type()).as(event.toString()).isEqualTo(type);
      return event;
    }

    @Override
    public void close() {
      ids.reversed().forEach(CmId::close);
      channel.close();
      cq.close();
      pd.close();
      context.close();
    }
  }

  /**
   * Two devices.
   *
   * @param kind the carrier of their identifiers
   * @param more parameters of their locators
   */
  TwoDevices(CarrierKind kind, String more) {
    this.kind = kind;
    String cable = "cm" + CABLES.incrementAndGet();
    client = new Device("model:%sa?cable=%s&ip=10.0.0.1%s".formatted(cable, cable, more));
    server = new Device("model:%sb?cable=%s&ip=10.0.0.2%s".formatted(cable, cable, more));
  }

  /** A free port of the server: at a TCP address of this host, or at the device's. */
  InetSocketAddress anyPort() {
    return new InetSocketAddress(
        InetAddress.ofLiteral(kind == CarrierKind.TCP ? "127.0.0.1" : "10.0.0.2"), 0);
  }

  /** A listener on a free port of the server. */
  CmId listen(PortSpace space, int backlog) {
    CmId listener = server.id(space);
    listener.carrier(kind);
    listener.bind(anyPort());
    listener.listen(backlog);
    return listener;
  }

  /** An identifier with a route to a listener, and a queue pair. */
  CmId routed(CmId listener) throws InterruptedException {
    CmId id = client.id(listener.portSpace());
    id.carrier(kind);
    id.resolveAddress(listener.localAddress(), SOON);
    client.take(CmEventType.ADDR_RESOLVED);
    id.resolveRoute(SOON);
    client.take(CmEventType.ROUTE_RESOLVED);
    id.createQueuePair(client.pd, client.config(listener.portSpace()));
    return id;
  }

  /** The identifier of the next request, with a queue pair. */
  CmId requested() throws InterruptedException {
    CmId id = server.keep(server.take(CmEventType.CONNECT_REQUEST).id());
    id.createQueuePair(server.pd, server.config(id.portSpace()));
    return id;
  }

  @Override
  public void close() {
    client.close();
    server.close();
    assertThat(DeviceCarriers.count()).as("devices in use").isZero();
  }

  /** The passive end of a server's next connection. */
  static CompletableFuture<RdmaConnection> accept(RdmaServer server) {
    CompletableFuture<RdmaConnection> accepted = new CompletableFuture<>();
    Thread.startVirtualThread(
        () -> {
          try {
            accepted.complete(server.accept(SOON).orElseThrow());
          } catch (InterruptedException | RuntimeException e) {
            accepted.completeExceptionally(e);
          }
        });
    return accepted;
  }
}
