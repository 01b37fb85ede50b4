package org.hghca.sockets.stream;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmEventType;
import org.hghca.cm.CmId;
import org.hghca.cm.ConnectionParameters;
import org.hghca.cm.EventChannel;
import org.hghca.cm.PortSpace;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Context;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.RdmaDevices;

/** A device with one connection, by the connection manager and verbs alone: no stream. */
final class VerbsPeer implements AutoCloseable {
  static final Duration SOON = Duration.ofSeconds(20);

  final ProtectionDomain domain;
  final CmId id;
  private final Context context;
  private final EventChannel channel;
  private final List<CompletionQueue> queues = new ArrayList<>();

  VerbsPeer(String locator) {
    context = RdmaDevices.open(locator);
    domain = context.allocateProtectionDomain();
    channel = EventChannel.open(context);
    id = channel.createId(PortSpace.TCP);
  }

  /** A completion queue. */
  CompletionQueue queue() {
    CompletionQueue queue = context.createCompletionQueue(512);
    queues.add(queue);
    return queue;
  }

  /** Finds a listener; a queue pair can be made then. */
  void resolve(InetSocketAddress to) throws InterruptedException {
    id.resolveAddress(to, SOON);
    take(CmEventType.ADDR_RESOLVED);
    id.resolveRoute(SOON);
    take(CmEventType.ROUTE_RESOLVED);
  }

  private void take(CmEventType wanted) throws InterruptedException {
    CmEvent event = event();
    if (event.type() != wanted) {
      throw new AssertionError(event.toString());
    }
  }

  /** Asks the listener for a connection without READs and atomics; the event that answers. */
  CmEvent connect(byte[] privateData) throws InterruptedException {
    id.connect(
        ConnectionParameters.DEFAULT
            .withResponderResources(0)
            .withInitiatorDepth(0)
            .withPrivateData(privateData));
    return event();
  }

  private CmEvent event() throws InterruptedException {
    CmEvent event = channel.await(SOON).orElseThrow();
    event.acknowledge();
    return event;
  }

  /** Closes all that was made of it, too. */
  @Override
  public void close() {
    id.close();
    channel.close();
    domain.closeWithContents();
    queues.forEach(CompletionQueue::close);
    context.close();
  }
}
