package org.hghca.wire.link;

import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.frame.FrameDecoder;
import org.hghca.wire.frame.FrameEncoder;
import org.hghca.wire.frame.FrameLayout;
import org.hghca.wire.frame.RestoredHeaders;
import org.hghca.wire.link.LinkException.Reason;

/**
 * RoCE v2 through UDP sockets of the kernel, which adds and removes the headers of Ethernet, IP and
 * UDP and routes the packets. Needs no privilege.
 */
final class UdpLink implements Link {
  /** UDP port of RoCE v2. */
  static final int PORT = FrameLayout.ROCE_PORT;

  private static final int SLOTS = 128;

  /**
   * The number of packets sent at once; the other slots are for callers that detect late that there
   * is no room.
   */
  private static final int BATCH = 64;

  private static final int DONT_WAIT = 0x40;

  private final SystemCalls linux;
  private final LocalAddress address;
  private final boolean ipv4;
  private final LinkOptions options;
  private final int socket;
  private final LinkCounts counts = new LinkCounts();
  private final DatagramBatch outgoing = new DatagramBatch(SLOTS);
  private final FrameEncoder encoder = new FrameEncoder(outgoing.frames());
  private final int[] sockets = new int[SLOTS];
  private final UdpGroups groups;
  private LinkWatch watch;
  private SourcePorts ports;

  /** Whether the groups are read before the own address, which changes with every round. */
  private boolean groupsFirst;

  /** Slots that are written and not sent: from {@code head} to below {@code tail}. */
  private int head;

  private int tail;

  /** The socket whose buffer is full; -1 for none. */
  private volatile int full = -1;

  /**
   * Opens the receiving socket.
   *
   * @throws LinkException with the fix
   */
  UdpLink(SystemCalls linux, LocalAddress address, LinkOptions options) {
    this.linux = linux;
    this.address = address;
    this.ipv4 = address.isIpv4();
    this.options = options;
    this.socket = bind();
    this.groups = new UdpGroups(linux, address, this::receive);
  }

  private int bind() {
    String name = "udp:" + address.text();
    int answer = UdpSocket.open(linux, name, address, PORT, true);
    if (answer >= 0) {
      return answer;
    }
    if (LinuxErrno.EADDRNOTAVAIL.is(answer)) {
      throw new LinkException(
          Reason.INVALID,
          "%s: no interface of this machine has the address: give one that 'ip address' shows"
              .formatted(name));
    }
    if (LinuxErrno.EADDRINUSE.is(answer)) {
      throw portInUse(name);
    }
    LinuxFailures.check(answer, name, "bind");
    throw new IllegalStateException(name);
  }

  /** The exception when another socket has the port of RoCE at an address. */
  static LinkException portInUse(String link) {
    return new LinkException(
        Reason.BUSY,
        "%s: UDP port %d is in use by rdma_rxe or another process ('ss -aun sport = %d' shows it):"
                .formatted(link, PORT, PORT)
            + " unload or end it, or give another address");
  }

  @Override
  public String description() {
    return "udp %s, path MTU %d".formatted(address.text(), pathMtu());
  }

  @Override
  public int pathMtu() {
    return PathMtu.of(Math.min(address.mtu(), options.mtu().orElse(address.mtu())));
  }

  @Override
  public PortAddresses addresses() {
    return PortAddresses.NONE.with(address.high(), address.low());
  }

  @Override
  public boolean isUp() {
    return true;
  }

  @Override
  public boolean hasRoom() {
    return full < 0;
  }

  @Override
  public LinkCounters counters() {
    return counts.snapshot();
  }

  @Override
  public void open(LinkWatch watched) {
    watch = watched;
    ports = new SourcePorts(linux, description(), address, watched, socket, options.sourcePorts());
    watched.add(socket, LinkWatch.READABLE);
  }

  @Override
  public void send(Packet packet) {
    if (!isReachable(packet)) {
      counts.notSent(SendFailure.NO_ADDRESS);
      return;
    }
    if (tail >= BATCH) {
      flush();
    }
    if (tail == SLOTS) {
      counts.notSent(SendFailure.BUFFER_FULL);
      return;
    }
    int from = ports.choose(packet.udpSourcePort);
    packet.udpSourcePort = ports.port(from);
    packet.identification = 0;
    packet.sourceIpHigh = address.high();
    packet.sourceIpLow = address.low();
    packet.hopLimit = packet.hopLimit <= 1 ? Packet.DEFAULT_HOP_LIMIT : packet.hopLimit;
    int headers = RestoredHeaders.size(ipv4);
    int length = encoder.encode(packet, outgoing.datagram(tail) - headers);
    if (length == 0) {
      counts.notSent(SendFailure.NO_ADDRESS);
      return;
    }
    outgoing.address(tail, ipv4, packet, length - headers, PORT, address.scope());
    sockets[tail++] = ports.socket(from);
  }

  private boolean isReachable(Packet packet) {
    return ipv4
        ? IpAddress.isIpv4(packet.destinationIpHigh, packet.destinationIpLow)
        : IpAddress.isIpv6(packet.destinationIpHigh, packet.destinationIpLow);
  }

  @Override
  public void flush() {
    while (head < tail) {
      int from = sockets[head];
      int end = head + 1;
      while (end < tail && sockets[end] == from) {
        end++;
      }
      int sent = linux.sendmmsg(from, outgoing.messagesFrom(head), end - head, DONT_WAIT);
      if (sent > 0) {
        counts.sent(sent);
        head += sent;
      } else if (LinuxErrno.EAGAIN.is(sent)) {
        waitForRoom(from);
        return;
      } else {
        counts.notSent(LinuxErrno.EMSGSIZE.is(sent) ? SendFailure.TOO_LONG : SendFailure.REFUSED);
        head++;
      }
    }
    head = 0;
    tail = 0;
    if (full >= 0) {
      watch.change(full, events(full, 0));
      full = -1;
    }
  }

  private void waitForRoom(int at) {
    if (full != at) {
      if (full >= 0) {
        watch.change(full, events(full, 0));
      }
      full = at;
      watch.change(at, events(at, LinkWatch.WRITABLE));
    }
  }

  private int events(int of, int more) {
    return of == socket ? LinkWatch.READABLE | more : more;
  }

  @Override
  public boolean join(long high, long low) {
    return groups.join(high, low, watch);
  }

  @Override
  public void leave(long high, long low) {
    groups.leave(high, low);
  }

  @Override
  public void receive(ReceiveBatch batch) {
    groupsFirst = !groupsFirst;
    if (groupsFirst) {
      groups.receive(batch);
    }
    receive(socket, address.high(), address.low(), batch);
    if (!groupsFirst) {
      groups.receive(batch);
    }
  }

  /** Reads the received packets of an address, as far as there is room. */
  private void receive(int from, long high, long low, ReceiveBatch batch) {
    if (batch.isFull()) {
      return;
    }
    DatagramBatch datagrams = batch.datagrams();
    datagrams.prepareToReceive();
    int first = batch.count();
    int came = linux.recvmmsg(from, datagrams.messagesFrom(first), DONT_WAIT);
    FrameDecoder decoder = batch.datagramDecoder();
    for (int i = first; i < first + came; i++) {
      Packet packet = batch.next();
      packet.destinationIpHigh = high;
      packet.destinationIpLow = low;
      int length = datagrams.restore(i, ipv4, packet);
      if (decoder.decode(RestoredHeaders.frame(datagrams.datagram(i), ipv4), length, packet)) {
        counts.received();
        batch.filled();
      } else {
        counts.dropped(decoder.cause());
      }
    }
  }

  @Override
  public void close() {
    groups.close();
    if (ports != null) {
      ports.close();
    } else {
      linux.close(socket);
    }
  }
}
