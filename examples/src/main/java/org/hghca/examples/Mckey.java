package org.hghca.examples;

import static org.hghca.verbs.AccessFlag.LOCAL_WRITE;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.hghca.cm.CmDevices;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmId;
import org.hghca.cm.DatagramParameters;
import org.hghca.cm.EventChannel;
import org.hghca.cm.PortSpace;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.GlobalRouteHeader;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;

/**
 * Multicast with several identifiers on one event channel: a program that reacts to events instead
 * of waiting for one after the other. Each message reaches every identifier of the server.
 */
final class Mckey implements Example {
  private static final int NODES = 3;
  private static final int MESSAGES = 10;
  private static final int BYTES = 100;
  private static final int SLOT = GlobalRouteHeader.LENGTH + BYTES;

  @Override
  public String shows() {
    return "multicast with several identifiers on one event channel, one queue pair each";
  }

  @Override
  public Set<DeviceFeature> needs() {
    return Set.of(DeviceFeature.MULTICAST);
  }

  @Override
  public void server(End end) throws Exception {
    int expected = NODES * MESSAGES; // of every identifier of the client
    try (Nodes my = new Nodes(end, Mc.group(end), expected)) {
      my.join();
      end.ready(new InetSocketAddress(my.group, 0));
      for (Node node : my.nodes) {
        for (int i = 0; i < expected; i++) {
          End.await(node.cq);
        }
        end.say("QP 0x%06x received %d messages".formatted(node.qp.number(), expected));
      }
    }
  }

  @Override
  public void client(End end) throws Exception {
    try (Nodes my = new Nodes(end, end.server().getAddress(), 0)) {
      my.join();
      for (Node node : my.nodes) {
        node.send();
        end.say("QP 0x%06x sent %d messages".formatted(node.qp.number(), MESSAGES));
      }
    }
  }

  /** An identifier with its own objects, as if it were on a device of its own. */
  private static final class Node implements AutoCloseable {
    final CmId id;
    final ProtectionDomain pd;
    final MemoryRegion memory;
    final CompletionQueue cq;
    final QueuePair qp;
    DatagramParameters group;

    Node(CmId id, int receives) {
      this.id = id;
      pd = id.context().allocateProtectionDomain();
      memory = pd.allocate(SLOT, LOCAL_WRITE);
      int depth = Math.max(receives, MESSAGES);
      cq = id.context().createCompletionQueue(2 * depth);
      qp = id.createQueuePair(pd, QueuePairConfig.ud(cq, cq).sendDepth(depth).receiveDepth(depth));
      for (int i = 0; i < receives; i++) {
        qp.postReceive(new ReceiveRequest().into(memory)); // all into one: only their number counts
      }
    }

    void send() throws Exception {
      try (AddressHandle handle = pd.createAddressHandle(group.vector())) {
        for (int i = 1; i <= MESSAGES; i++) {
          SendRequest request =
              new SendRequest()
                  .sendWithImmediate(qp.number())
                  .to(handle, group.qpNumber(), group.qkey())
                  .sge(memory, 0, BYTES);
          // Requests end in order: the completion of the last one speaks for all of them.
          qp.postSend(i == MESSAGES ? request.signaled() : request);
        }
        End.await(cq);
      }
    }

    @Override
    public void close() {
      id.close();
      cq.close();
      memory.close();
      pd.close();
    }
  }

  /** All identifiers, and the channel on which their events arrive. */
  private static final class Nodes implements AutoCloseable {
    final End end;
    final InetAddress group;
    final int receives;
    final EventChannel channel;
    final List<CmId> ids = new ArrayList<>();
    final List<Node> nodes = new ArrayList<>();

    Nodes(End end, InetAddress group, int receives) {
      this.end = end;
      this.group = group;
      this.receives = receives;
      channel = EventChannel.open(CmDevices.of(end.context()));
    }

    /** Returns when all of them have joined the group. */
    void join() throws Exception {
      InetSocketAddress own = Mc.address(end.context());
      for (int i = 0; i < NODES; i++) {
        CmId id = channel.createId(PortSpace.UDP);
        ids.add(id);
        id.resolveAddress(own, new InetSocketAddress(group, 0), End.PATIENCE);
      }
      for (int joined = 0; joined < NODES; ) {
        CmEvent event =
            channel.await(End.PATIENCE).orElseThrow(() -> new TimeoutException("no event"));
        try (event) { // which acknowledges it
          switch (event.type()) {
            case ADDR_RESOLVED -> {
              nodes.add(new Node(event.id(), receives));
              event.id().joinMulticast(group);
            }
            case MULTICAST_JOIN -> {
              node(event.id()).group = event.datagram().orElseThrow();
              end.say("joined " + event.datagram().orElseThrow().vector().destination());
              joined++;
            }
            default -> throw new IllegalStateException("an event: " + event);
          }
        }
      }
    }

    private Node node(CmId id) {
      return nodes.stream().filter(node -> node.id == id).findFirst().orElseThrow();
    }

    @Override
    public void close() {
      nodes.forEach(Node::close); // a closed identifier leaves its groups
      ids.forEach(CmId::close); // those that have not come as far as a node
      channel.close();
    }
  }
}
