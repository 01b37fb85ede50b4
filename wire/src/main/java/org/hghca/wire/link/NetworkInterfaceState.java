package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.wire.link.LinkException.Reason;

/**
 * An interface of the kernel by its name, and whether it is up. A netlink socket (rtnetlink(7))
 * tells that some interface has changed; what has changed is asked for by {@code ioctl}
 * (netdevice(7)), which needs no privilege.
 *
 * <pre>
 * struct ifreq (40)       struct sockaddr_nl (12)
 *  00h name (16)           00h family
 *  10h what is asked for   08h groups
 * </pre>
 */
final class NetworkInterfaceState {
  private static final int NETLINK_FAMILY = 16;
  private static final int RAW = 3;
  private static final int NONBLOCK_CLOSE_ON_EXEC = 0x800 | 0x80000;
  private static final int ROUTE = 0;
  private static final int LINK_GROUP = 1;
  private static final int DONT_WAIT = 0x40;

  private static final int SIOCGIFFLAGS = 0x8913;
  private static final int SIOCGIFMTU = 0x8921;
  private static final int SIOCGIFHWADDR = 0x8927;
  private static final int SIOCGIFINDEX = 0x8933;
  private static final int REQUEST = 40;
  private static final int LONGEST_NAME = 15;
  private static final int VALUE = 16;
  private static final int UP_AND_RUNNING = 0x1 | 0x40;

  private static final int ETHERNET = 1;
  private static final int LOOPBACK = 772;
  private static final ValueLayout.OfLong BIG_LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private final SystemCalls linux;
  private final String name;
  private final int socket;
  private final MemorySegment request = Arena.ofAuto().allocate(REQUEST, 8);
  private final MemorySegment change = Arena.ofAuto().allocate(8192, 8);
  private final SocketMessage changes = new SocketMessage();
  private final int index;
  private final int mtu;
  private final long mac;
  private volatile boolean up;

  /**
   * Finds an interface.
   *
   * @param link what it is for, in messages
   * @throws LinkException when there is none that carries Ethernet frames
   */
  NetworkInterfaceState(SystemCalls linux, String link, String name) {
    this.linux = linux;
    this.name = name;
    socket = linux.socket(NETLINK_FAMILY, RAW | NONBLOCK_CLOSE_ON_EXEC, ROUTE);
    LinuxFailures.check(socket, link, "socket");
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment address = arena.allocate(12, 4);
      address.set(ValueLayout.JAVA_SHORT, 0, (short) NETLINK_FAMILY);
      address.set(ValueLayout.JAVA_INT, 8, LINK_GROUP);
      LinuxFailures.check(linux.bind(socket, address), link, "bind");
      int answer = isName(name) ? ask(SIOCGIFINDEX) : -LinuxErrno.ENODEV.number();
      if (LinuxErrno.ENODEV.is(answer)) {
        throw new LinkException(
            Reason.INVALID,
            "%s: there is no interface of that name: give one that 'ip link' shows"
                .formatted(link));
      }
      LinuxFailures.check(answer, link, "SIOCGIFINDEX");
      index = request.get(ValueLayout.JAVA_INT, VALUE);
      LinuxFailures.check(ask(SIOCGIFMTU), link, "SIOCGIFMTU");
      mtu = request.get(ValueLayout.JAVA_INT, VALUE);
      LinuxFailures.check(ask(SIOCGIFHWADDR), link, "SIOCGIFHWADDR");
      int type = request.get(ValueLayout.JAVA_SHORT, VALUE);
      if (type != ETHERNET && type != LOOPBACK) {
        throw new LinkException(
            Reason.INVALID,
            "%s: the interface carries no Ethernet frames: give one whose 'ip link' says link/ether"
                .formatted(link));
      }
      mac = request.get(BIG_LONG, VALUE + 2) >>> 16;
      look();
    } catch (RuntimeException e) {
      linux.close(socket);
      throw e;
    }
  }

  private static boolean isName(String name) {
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    return bytes > 0 && bytes <= LONGEST_NAME;
  }

  private int ask(int what) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    request.fill((byte) 0);
    MemorySegment.copy(bytes, 0, request, ValueLayout.JAVA_BYTE, 0, bytes.length);
    return linux.ioctl(socket, what, request);
  }

  /** The interface's number. */
  int index() {
    return index;
  }

  /** Bytes of the longest IP packet, when the link was opened. */
  int mtu() {
    return mtu;
  }

  /** The MAC of the kernel's own port there; 0 for the loopback interface. */
  long mac() {
    return mac;
  }

  /** Whether it is up and has a carrier. By any thread. */
  boolean isUp() {
    return up;
  }

  /** Makes the poller call when an interface changes. */
  void open(LinkWatch watch) {
    watch.add(socket, LinkWatch.READABLE);
  }

  /** Checks whether the interface has changed. */
  void refresh() {
    boolean changed = false;
    long answer;
    do {
      answer = linux.recvmsg(socket, changes.of(change, 0, change.byteSize()), DONT_WAIT);
      // ENOBUFS: there was more than the socket holds
      changed |= answer > 0 || LinuxErrno.ENOBUFS.is(answer);
    } while (answer > 0);
    if (changed) {
      look();
    }
  }

  private void look() {
    // It may have been removed, and another one has its name now.
    boolean known =
        ask(SIOCGIFINDEX) == 0
            && request.get(ValueLayout.JAVA_INT, VALUE) == index
            && ask(SIOCGIFFLAGS) == 0;
    int flags = request.get(ValueLayout.JAVA_SHORT, VALUE);
    up = known && (flags & UP_AND_RUNNING) == UP_AND_RUNNING;
  }

  void close() {
    linux.close(socket);
  }
}
