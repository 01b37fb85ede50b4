package org.hghca.model.virtio;

import org.hghca.model.card.HostMemory;
import org.hghca.model.transport.ConnectionContext;
import org.hghca.model.transport.ContextStore;
import org.hghca.model.transport.EventSink;
import org.hghca.model.transport.QueuePairEvent;
import org.hghca.model.transport.Transport;
import org.hghca.model.transport.TransportCounters;
import org.hghca.virtio.abi.roce.QpState;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketRun;

/**
 * The data path of the RoCE half: the transport between the work queues of queue pairs and the
 * port. There are no events of queue pairs in its interface. Used in steps of the card.
 */
final class RoceTransport implements ContextStore, EventSink {
  private final EthernetPort port;
  private final RoceObjects objects;
  private final RoceQueues queues;
  private final RoceCompletions completions;
  private final Transport transport;
  private final long sourceMac;
  private final int datagramMtu;
  private final Chain scratch = new Chain(RoceLimits.BUFFERS);

  /**
   * @param datagramMtu bytes of the longest datagram
   */
  RoceTransport(
      HostMemory host, EthernetPort port, RoceObjects objects, RoceQueues queues, int datagramMtu) {
    this.port = port;
    this.objects = objects;
    this.queues = queues;
    this.sourceMac = port.mac();
    this.datagramMtu = datagramMtu;
    this.completions = new RoceCompletions(host, objects, queues, this::overrun);
    this.transport =
        new Transport(
            port,
            this,
            new RoceRequests(host, objects, queues, sourceMac),
            new RoceMemory(host, objects),
            completions,
            this);
  }

  TransportCounters counters() {
    return transport.counters();
  }

  /** Completions that were written. */
  long completions() {
    return completions.written();
  }

  void reset() {
    transport.resetAll();
    queues.clear();
  }

  /** The dead completion queue takes its queue pairs along. */
  private void overrun(int cqn) {
    for (int qpn = RoceObjects.GSI_QPN; qpn < RoceLimits.QPS; qpn++) {
      if (objects
          .pair(qpn)
          .filter(pair -> pair.sendCqn == cqn || pair.receiveCqn == cqn)
          .isPresent()) {
        transport.workQueueFailed(qpn);
      }
    }
  }

  // ---- commands

  /** A command follows: objects are what the driver is to see. */
  void beforeCommand() {
    transport.beforeCommand();
  }

  /** Whether the network lets the port send from an address. */
  boolean sendsFrom(long high, long low) {
    return port.sendsFrom(high, low);
  }

  /** A queue pair was modified. */
  void modified(int qpn, RoceQueuePair pair, int from) throws QueueException {
    if (pair.state() == QpState.RESET) {
      transport.reset(qpn);
      queues.giveAllBack(qpn, scratch);
      return;
    }
    transport.modified(qpn, RoceQueuePair.transportState(pair.state()));
    if (pair.state() == QpState.SQD && from != QpState.SQD) {
      pair.draining(true);
      transport.notifyDrained(qpn);
    }
  }

  /** A queue pair was destroyed: its requests are gone. */
  void destroyed(int qpn) {
    transport.reset(qpn);
    queues.endWork(qpn);
  }

  void completionsDestroyed(int cqn) {
    queues.endCompletions(cqn);
  }

  // ---- queues

  /** The driver notifies of a virtqueue. */
  void notified(int index) {
    int qpn = RoceQueues.qpn(index);
    RoceQueuePair pair = qpn < 0 ? null : objects.pair(qpn).orElse(null);
    if (pair == null) {
      return;
    }
    // A receive waits for a message, or is flushed.
    if (index == RoceLimits.QUEUES.send(qpn) || pair.state() == QpState.ERR) {
      transport.announced(qpn);
    }
  }

  /** A virtqueue is reset: a queue pair that used it ends in ERR, without completions. */
  void queueReset(int index) {
    int qpn = RoceQueues.qpn(index);
    if (qpn < 0) {
      queues.endCompletions(index - RoceLimits.QUEUES.completion(0));
    } else {
      destroyed(qpn);
      objects.pair(qpn).ifPresent(RoceQueuePair::fail);
    }
  }

  // ---- steps

  void time(long now) {
    transport.time(now);
  }

  /** Whether a packet is for the RoCE half. */
  boolean takes(Packet packet) {
    return !packet.plain
        && packet.destinationMac == sourceMac
        && objects.gids.contains(packet.destinationIpHigh, packet.destinationIpLow);
  }

  /** Executes a packet; it is returned to its pool. */
  void receive(Packet packet) {
    transport.receive(packet);
  }

  /** Executes a run of packets, if all is as usual; returns whether it has. */
  boolean receive(PacketRun run) {
    return transport.take(run);
  }

  /** Whether {@link #run} has something to do at a time. */
  boolean isDue(long now) {
    return transport.isDue(now);
  }

  /** Does what is due; returns whether something was. */
  boolean run(int most) {
    return transport.run(most);
  }

  /** Shows the driver what was done. */
  void endStep() throws QueueException {
    transport.settle();
    queues.endStep();
  }

  long nextDeadline() {
    return transport.nextDeadline();
  }

  // ---- for the transport

  @Override
  public boolean load(int qpn, ConnectionContext context) {
    RoceQueuePair pair = objects.pair(qpn).orElse(null);
    if (pair == null) {
      return false;
    }
    context.qpn = qpn;
    context.sourceMac = sourceMac;
    pair.load(context, objects.gids, datagramMtu);
    return true;
  }

  @Override
  public void store(ConnectionContext context) {
    objects.pair(context.qpn).ifPresent(pair -> pair.store(context));
  }

  @Override
  public void raise(QueuePairEvent event, int qpn) {
    if (event == QueuePairEvent.SEND_QUEUE_DRAINED) {
      objects.pair(qpn).ifPresent(pair -> pair.draining(false));
    }
  }
}
