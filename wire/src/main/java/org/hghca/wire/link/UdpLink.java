package org.hghca.wire.link;

import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.frame.FrameEncoder;
import org.hghca.wire.frame.FrameLayout;
import org.hghca.wire.frame.RestoredHeaders;
import org.hghca.wire.frame.TransportHeaders;
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

  /**
   * Reads in a row that bring something: datagrams without a packet fill no batch, and must not
   * block the poller.
   */
  private static final int MOST_READS = 4;

  private final SystemCalls linux;
  private final LocalAddress address;
  private final boolean ipv4;
  private final LinkOptions options;
  private final int socket;
  private final LinkCounts counts = new LinkCounts();
  private final SegmentedDatagrams outgoing = new SegmentedDatagrams(SLOTS);
  private final FrameEncoder encoder = new FrameEncoder(outgoing.frames());
  private final MachineAddresses machine = MachineAddresses.now();
  private final UdpGroups groups;
  private LinkWatch watch;
  private SourcePorts ports;

  /** Whether the groups are read before the own address, which changes with every round. */
  private boolean groupsFirst;

  /** The first message that is not sent. */
  private int head;

  /** Whether the kernel takes several datagrams in one, to addresses of this machine. */
  private boolean segments = true;

  /**
   * Whether the datagrams of the message {@link #head}, which was refused, are sent one by one, and
   * whether the kernel has taken all so far.
   */
  private boolean separate;

  private boolean allTaken;

  /** The answer to that message. */
  private int refusal;

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
    UdpSocket.receiveJoined(linux, socket);
    this.groups = new UdpGroups(linux, address, this::read, MOST_READS);
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
  public boolean takesMonitors() {
    return false;
  }

  @Override
  public boolean sendsTogether() {
    return true;
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
    if (packet.plain) {
      counts.notSent(SendFailure.NOT_ROCE);
      return;
    }
    if (!isReachable(packet)) {
      counts.notSent(SendFailure.NO_ADDRESS);
      return;
    }
    if (outgoing.size() >= BATCH) {
      flush();
    }
    if (outgoing.size() == SLOTS) {
      counts.notSent(SendFailure.BUFFER_FULL);
      return;
    }
    int from = ports.choose(packet.udpSourcePort);
    packet.udpSourcePort = ports.port(from);
    packet.sourceIpHigh = address.high();
    packet.sourceIpLow = address.low();
    packet.hopLimit = packet.hopLimit <= 1 ? Packet.DEFAULT_HOP_LIMIT : packet.hopLimit;
    int length = TransportHeaders.length(packet);
    boolean continues =
        outgoing.continues(ports.socket(from), packet, length) && allowSegments(from);
    packet.identification = continues ? outgoing.segments() : 0;
    if (encoder.encode(packet, outgoing.next() - RestoredHeaders.size(ipv4)) == 0) {
      counts.notSent(SendFailure.NO_ADDRESS);
    } else if (continues) {
      outgoing.add(length);
    } else {
      boolean stays = segments && machine.has(packet.destinationIpHigh, packet.destinationIpLow);
      outgoing.begin(ports.socket(from), packet, ipv4, length, PORT, address.scope(), stays);
    }
  }

  private boolean allowSegments(int from) {
    segments = segments && ports.allowSegments(from);
    return segments;
  }

  private boolean isReachable(Packet packet) {
    return ipv4
        ? IpAddress.isIpv4(packet.destinationIpHigh, packet.destinationIpLow)
        : IpAddress.isIpv6(packet.destinationIpHigh, packet.destinationIpLow);
  }

  @Override
  public void flush() {
    while (head < outgoing.count()) {
      int from = outgoing.socket(head);
      int end = head + 1;
      while (!separate && end < outgoing.count() && outgoing.socket(end) == from) {
        end++;
      }
      int sent = linux.sendmmsg(from, outgoing.messagesFrom(head), end - head, DONT_WAIT);
      if (LinuxErrno.EAGAIN.is(sent)) {
        waitForRoom(from);
        return;
      }
      if (separate) {
        separateSent(sent);
      } else if (sent < 0 && outgoing.datagrams(head) > 1) {
        separate(sent);
      } else if (sent < 0) {
        notSent(sent);
        head++;
      } else {
        for (int i = 0; i < sent; i++) {
          counts.sent(outgoing.datagrams(head++));
        }
      }
    }
    head = 0;
    outgoing.clear();
    if (full >= 0) {
      watch.change(full, events(full, 0));
      full = -1;
    }
  }

  /** A message of several datagrams was refused: they are sent one by one. */
  private void separate(int answer) {
    separate = true;
    allTaken = true;
    refusal = answer;
    outgoing.separate(head); // its first datagram has the identification 0 already
  }

  /** One of these was sent, or refused. */
  private void separateSent(int answer) {
    if (answer < 0) {
      notSent(answer);
      allTaken = false;
    } else {
      counts.sent(1);
    }
    if (outgoing.datagrams(head) > 1) {
      outgoing.nextOf(head);
      if (ipv4) { // the kernel sends single datagrams with the identification 0
        int frame = RestoredHeaders.frame(outgoing.datagram(head), true);
        encoder.identify(frame, outgoing.length(head), 0);
      }
    } else {
      segments &= !(allTaken && isOfSegments(refusal));
      separate = false;
      head++;
    }
  }

  /**
   * Whether an answer tells that the kernel cuts no datagrams on this way, where it takes single
   * ones. Others pass: a firewall's rule, a lack of memory.
   */
  private static boolean isOfSegments(int answer) {
    return LinuxErrno.EINVAL.is(answer)
        || LinuxErrno.EIO.is(answer)
        || LinuxErrno.EMSGSIZE.is(answer);
  }

  private void notSent(int answer) {
    counts.notSent(LinuxErrno.EMSGSIZE.is(answer) ? SendFailure.TOO_LONG : SendFailure.REFUSED);
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
    read(socket, address.high(), address.low(), batch, MOST_READS);
    if (!groupsFirst) {
      groups.receive(batch);
    }
  }

  /** Reads the received packets of an address, as far as there is room. */
  private int read(int from, long high, long low, ReceiveBatch batch, int most) {
    ReceivedDatagrams datagrams = batch.datagrams();
    int reads = 0;
    int came = ReceivedDatagrams.SLOTS;
    while (came == ReceivedDatagrams.SLOTS && reads < most && !batch.isFull()) {
      came = datagrams.read(linux, from, ipv4, high, low, counts);
      datagrams.take(batch);
      reads += came > 0 ? 1 : 0;
    }
    return reads;
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
