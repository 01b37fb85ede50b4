package org.hghca.examples;

import static org.hghca.verbs.AccessFlag.LOCAL_WRITE;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.hghca.cm.CmDevices;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmEventType;
import org.hghca.cm.CmId;
import org.hghca.cm.DatagramParameters;
import org.hghca.cm.EventChannel;
import org.hghca.cm.PortSpace;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.GlobalRouteHeader;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;

/**
 * Multicast with the events of librdmacm: both ends join a group, the client sends to it, the
 * server receives. The group is the argument of the server, and the host of the client.
 */
final class Mc implements Example {
  private static final String GROUP = "239.1.2.3";
  private static final int MESSAGES = 4;
  private static final int BYTES = 64;

  /** A datagram comes with the header of its route before it. */
  private static final int SLOT = GlobalRouteHeader.LENGTH + BYTES;

  @Override
  public String shows() {
    return "a multicast group: join, send, receive; datagrams, each with the number of its sender";
  }

  @Override
  public Set<DeviceFeature> needs() {
    return Set.of(DeviceFeature.MULTICAST);
  }

  @Override
  public void server(End end) throws Exception {
    try (Member my = new Member(end, group(end))) {
      for (int i = 0; i < MESSAGES; i++) {
        my.qp.postReceive(new ReceiveRequest().wrId(i).into(my.memory, (long) i * SLOT, SLOT));
      }
      my.join();
      end.ready(new InetSocketAddress(my.group, 0)); // a sender in this process may begin
      for (int i = 0; i < MESSAGES; i++) {
        Completions received = End.await(my.cq);
        long at = received.wrId(0) * SLOT + GlobalRouteHeader.LENGTH;
        end.say(
            "received '%s' from QP 0x%06x"
                .formatted(my.memory.segment().getString(at), received.immediate(0)));
      }
      my.id.leaveMulticast(my.group);
    }
  }

  @Override
  public void client(End end) throws Exception {
    try (Member my = new Member(end, end.server().getAddress())) {
      DatagramParameters to = my.join();
      try (AddressHandle handle = my.pd.createAddressHandle(to.vector())) {
        for (int i = 0; i < MESSAGES; i++) {
          my.memory.segment().setString(0, "message " + i);
          // By convention the immediate value of a multicast says who sends.
          my.qp.postSend(
              new SendRequest()
                  .sendWithImmediate(my.qp.number())
                  .to(handle, to.qpNumber(), to.qkey())
                  .sge(my.memory, 0, BYTES)
                  .signaled());
          End.await(my.cq); // it has left; whether it arrives, no completion tells
          end.say("sent message " + i);
        }
      }
      my.id.leaveMulticast(my.group);
    }
  }

  /** The group on the command line, or {@value #GROUP}. */
  static InetAddress group(End end) throws UnknownHostException {
    return InetAddress.getByName(end.arguments().isEmpty() ? GROUP : end.arguments().getFirst());
  }

  /** The device's own IPv4 address, from which datagrams to an IPv4 group are sent. */
  static InetSocketAddress address(Context context) {
    return context.queryGidTable().stream()
        .filter(entry -> entry.gid().ipv4().isPresent())
        .map(entry -> new InetSocketAddress(entry.gid().address(), 0))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("the device has no IPv4 address"));
  }

  /** An identifier that resolves the group, with what it needs to send and receive. */
  private static final class Member implements AutoCloseable {
    final End end;
    final InetAddress group;
    final EventChannel channel;
    final CmId id;
    final ProtectionDomain pd;
    final MemoryRegion memory;
    final CompletionQueue cq;
    final QueuePair qp;

    Member(End end, InetAddress group) throws Exception {
      this.end = end;
      this.group = group;
      channel = EventChannel.open(CmDevices.of(end.context()));
      id = channel.createId(PortSpace.UDP);
      id.bind(address(end.context()));
      id.resolveAddress(new InetSocketAddress(group, 0), End.PATIENCE);
      take(CmEventType.ADDR_RESOLVED);
      pd = end.context().allocateProtectionDomain();
      memory = pd.allocate(MESSAGES * SLOT, LOCAL_WRITE);
      cq = end.context().createCompletionQueue(2 * MESSAGES);
      qp =
          id.createQueuePair(
              pd, QueuePairConfig.ud(cq, cq).sendDepth(MESSAGES).receiveDepth(MESSAGES));
    }

    /** Takes part in the group; returns where its datagrams go. */
    DatagramParameters join() throws Exception {
      id.joinMulticast(group);
      DatagramParameters destination = take(CmEventType.MULTICAST_JOIN).datagram().orElseThrow();
      end.say("joined " + destination.vector().destination());
      return destination;
    }

    private CmEvent take(CmEventType type) throws Exception {
      CmEvent event =
          channel.await(End.PATIENCE).orElseThrow(() -> new TimeoutException("no event " + type));
      event.acknowledge(); // before that the identifier cannot be closed
      End.check(event.type() == type, "an event: " + event);
      return event;
    }

    @Override
    public void close() {
      id.close(); // with its queue pair
      channel.close();
      cq.close();
      memory.close();
      pd.close();
    }
  }
}
