package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.link.LinkException.Reason;

/**
 * A packet socket (packet(7)) at an interface: our frames beside the kernel's. Only what is for the
 * port comes up, for that of a NIC all that the interface takes, and it comes by a ring; frames are
 * sent in batches. Needs CAP_NET_RAW.
 *
 * <pre>
 * struct sockaddr_ll (20)     struct packet_mreq (16)
 *  00h family                  00h interface
 *  02h protocol (BE)           04h type
 *  04h interface               06h length
 *                              08h address
 * </pre>
 */
final class PacketSocket implements FrameCarrier {
  private static final int FAMILY = 17;
  private static final int RAW_NONBLOCK_CLOSE_ON_EXEC = 3 | 0x800 | 0x80000;
  private static final int ALL_PROTOCOLS = 3;
  private static final int DONT_WAIT = 0x40;

  private static final int SOL_SOCKET = 1;
  private static final int SO_ERROR = 4;
  private static final int SO_SNDBUF = 7;
  private static final int SOL_PACKET = 263;
  private static final int PACKET_ADD_MEMBERSHIP = 1;
  private static final int PACKET_DROP_MEMBERSHIP = 2;
  private static final int PACKET_IGNORE_OUTGOING = 23;
  private static final int MULTICAST = 0;
  private static final int UNICAST = 3;
  private static final int PROMISCUOUS = 1;
  private static final int ALL_MULTICAST = 2;
  private static final int BUFFER = 4 << 20;

  /** Frames in a row: frames without packets do not block the poller. */
  private static final int MOST_FRAMES = 2 * ReceiveBatch.SIZE;

  private static final int NONE = -1;

  private final SystemCalls linux;
  private final String name;
  private final NetworkInterfaceState state;
  private final MemorySegment error = Arena.ofAuto().allocate(ValueLayout.JAVA_INT);
  private int socket = NONE;

  /** With the kernel's own addresses: keeps the kernel from answering packets for this port. */
  private final List<Integer> silencers = new ArrayList<>();

  private PacketRing ring;
  private LinkWatch watch;

  /**
   * Opens the socket.
   *
   * @param name of the interface
   * @throws LinkException with the fix
   */
  PacketSocket(SystemCalls linux, String name, LinkOptions options) {
    this.linux = linux;
    this.name = name;
    this.state = new NetworkInterfaceState(linux, link(), name);
    try {
      socket = create();
      prepare(options);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private String link() {
    return "packet:" + name;
  }

  private int create() {
    int created = linux.socket(FAMILY, RAW_NONBLOCK_CLOSE_ON_EXEC, 0);
    if (LinuxErrno.EPERM.is(created)) {
      throw new LinkException(
          Reason.NO_PERMISSION,
          "%s: this needs CAP_NET_RAW: run as root, with 'setpriv --inh-caps +net_raw --ambient-caps"
                  .formatted(link())
              + " +net_raw', or in 'unshare -rn'");
    }
    LinuxFailures.check(created, link(), "socket");
    return created;
  }

  private void prepare(LinkOptions options) {
    ring = new PacketRing(linux, link(), socket, state.mtu());
    if (options.encapsulation().carriesEverything()) {
      check(member(PACKET_ADD_MEMBERSHIP, ALL_MULTICAST, 0), "PACKET_ADD_MEMBERSHIP");
    } else {
      check(
          PacketFilter.attach(linux, socket, PacketFilter.ofPort(options.mac())),
          "SO_ATTACH_FILTER");
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(ValueLayout.JAVA_INT);
      value.set(ValueLayout.JAVA_INT, 0, BUFFER);
      check(linux.setsockopt(socket, SOL_SOCKET, SO_SNDBUF, value), "SO_SNDBUF");
      value.set(ValueLayout.JAVA_INT, 0, 1);
      check(
          linux.setsockopt(socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, value),
          "PACKET_IGNORE_OUTGOING");
      if (options.share()) {
        share(options);
      } else if (options.mac() != state.mac()) {
        takeOwn(options.mac());
      }
      MemorySegment address = arena.allocate(20, 4);
      address.set(ValueLayout.JAVA_SHORT, 0, (short) FAMILY);
      address.set(ValueLayout.JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN), 2, (short) ALL_PROTOCOLS);
      address.set(ValueLayout.JAVA_INT, 4, state.index());
      check(linux.bind(socket, address), "bind");
    }
  }

  private void check(int answer, String call) {
    LinuxFailures.check(answer, link(), call);
  }

  /**
   * Makes the interface accept frames to our MAC; all frames, where it supports no second address.
   */
  private void takeOwn(long mac) {
    if (member(PACKET_ADD_MEMBERSHIP, UNICAST, mac) < 0) {
      check(member(PACKET_ADD_MEMBERSHIP, PROMISCUOUS, mac), "PACKET_ADD_MEMBERSHIP");
    }
  }

  private int member(int option, int type, long mac) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment membership = arena.allocate(16, 8);
      membership.set(ValueLayout.JAVA_INT, 0, state.index());
      membership.set(ValueLayout.JAVA_SHORT, 4, (short) type);
      membership.set(ValueLayout.JAVA_SHORT, 6, (short) 6);
      membership.set(ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN), 8, mac << 16);
      return linux.setsockopt(socket, SOL_PACKET, option, membership);
    }
  }

  /**
   * The kernel answers packets to an unused UDP port; this socket occupies the port and receives
   * nothing.
   */
  private void share(LinkOptions options) {
    if (options.mac() != state.mac()) {
      throw new LinkException(
          Reason.INVALID,
          "%s: with share=true the port has the interface's MAC: leave out mac=".formatted(link()));
    }
    PortAddresses addresses = options.addresses();
    for (int i = 0; i < addresses.count(); i++) {
      silence(addresses.high(i), addresses.low(i));
    }
  }

  private void silence(long high, long low) {
    int device = state.index();
    LocalAddress address = new LocalAddress(name, high, low, device, device, state.mtu());
    int opened = UdpSocket.open(linux, link(), address, UdpLink.PORT, false);
    if (LinuxErrno.EADDRNOTAVAIL.is(opened)) {
      throw new LinkException(
          Reason.INVALID,
          "%s: with share=true the port has an IP address of this machine: leave out ip=, and give"
                  .formatted(link())
              + " the interface one with 'ip address add'");
    }
    if (LinuxErrno.EADDRINUSE.is(opened)) {
      throw UdpLink.portInUse(link());
    }
    check(opened, "bind");
    silencers.add(opened);
    check(PacketFilter.attach(linux, opened, PacketFilter.ofNothing()), "SO_ATTACH_FILTER");
  }

  @Override
  public String description() {
    return "packet " + name;
  }

  @Override
  public int mtu() {
    return state.mtu();
  }

  @Override
  public boolean isUp() {
    return state.isUp();
  }

  @Override
  public void open(LinkWatch watched) {
    watch = watched;
    watched.add(socket, LinkWatch.READABLE);
    state.open(watched);
  }

  @Override
  public boolean join(long mac) {
    return member(PACKET_ADD_MEMBERSHIP, MULTICAST, mac) >= 0;
  }

  @Override
  public void leave(long mac) {
    member(PACKET_DROP_MEMBERSHIP, MULTICAST, mac);
  }

  @Override
  public int send(DatagramBatch frames, int from, int count) {
    return linux.sendmmsg(socket, frames.messagesFrom(from), count, DONT_WAIT);
  }

  @Override
  public void awaitRoom(boolean wanted) {
    watch.change(socket, wanted ? LinkWatch.READABLE | LinkWatch.WRITABLE : LinkWatch.READABLE);
  }

  @Override
  public MemorySegment incoming() {
    return ring.memory();
  }

  @Override
  public void receive(EthernetEnd end, ReceiveBatch batch) {
    if (!ring.hasFrame()) {
      forgetError();
      state.refresh();
    }
    for (int i = 0; i < MOST_FRAMES && ring.hasFrame() && !batch.isFull(); i++) {
      end.take(ring.frame(), ring.length(), ring.vlan(), batch);
      ring.release();
    }
  }

  /** An interface that went down leaves an error at the socket, which would wake the poller. */
  private void forgetError() {
    linux.getsockopt(socket, SOL_SOCKET, SO_ERROR, error);
  }

  @Override
  public void close() {
    if (ring != null) {
      ring.close();
    }
    if (socket != NONE) {
      linux.close(socket);
    }
    silencers.forEach(linux::close);
    state.close();
  }
}
