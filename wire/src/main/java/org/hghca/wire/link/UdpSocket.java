package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.function.Consumer;
import org.hghca.linux.SystemCalls;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;

/**
 * UDP sockets of the kernel as RoCE needs them: never connected and never fragmenting, so that the
 * kernel sends IPv4 packets with identification 0 and the invariant CRC can be computed.
 */
final class UdpSocket {
  private static final int DATAGRAMS = 2;
  private static final int NONBLOCK_CLOSE_ON_EXEC = 0x800 | 0x80000;

  private static final int SOL_SOCKET = 1;
  private static final int SO_REUSEADDR = 2;
  private static final int SO_SNDBUF = 7;
  private static final int SO_RCVBUF = 8;
  private static final int SO_NO_CHECK = 11;
  private static final int IPPROTO_IP = 0;
  private static final int IP_MTU_DISCOVER = 10;
  private static final int IP_RECVTTL = 12;
  private static final int IP_RECVTOS = 13;
  private static final int IP_MULTICAST_TTL = 33;
  private static final int IP_ADD_MEMBERSHIP = 35;
  private static final int IP_MULTICAST_ALL = 49;
  private static final int IPPROTO_IPV6 = 41;
  private static final int IPV6_MULTICAST_IF = 17;
  private static final int IPV6_MULTICAST_HOPS = 18;
  private static final int IPV6_JOIN_GROUP = 20;
  private static final int IPV6_MTU_DISCOVER = 23;
  private static final int IPV6_V6ONLY = 26;
  private static final int IPV6_MULTICAST_ALL = 29;
  private static final int IPV6_RECVHOPLIMIT = 51;
  private static final int IPV6_RECVTCLASS = 66;
  private static final int IPPROTO_UDP = 17;
  private static final int UDP_SEGMENT = 103;
  private static final int UDP_GRO = 104;
  private static final int UDP_NO_CHECK6_TX = 101;
  private static final int UDP_NO_CHECK6_RX = 102;

  private static final ValueLayout.OfInt BIG_ENDIAN =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int IP_MEMBERSHIP = 12;
  private static final int MEMBERSHIP = 20;

  /** IP_PMTUDISC_DO: always DF, and nothing longer than the path's MTU. */
  private static final int NEVER_FRAGMENT = 2;

  /** The requested size; the kernel grants up to net.core.rmem_max and net.core.wmem_max. */
  private static final int BUFFER = 4 << 20;

  private UdpSocket() {}

  /**
   * Lets a socket receive several datagrams of one flow as one, where the kernel can: since 5.0.
   */
  static void receiveJoined(SystemCalls linux, int socket) {
    try (Arena arena = Arena.ofConfined()) {
      linux.setsockopt(socket, IPPROTO_UDP, UDP_GRO, arena.allocateFrom(ValueLayout.JAVA_INT, 1));
    }
  }

  /**
   * Lets a socket send datagrams that the kernel cuts, which then all have a checksum. Kernels
   * before 4.18 do not know the option, and would ignore it with a message.
   *
   * @return whether it may
   */
  static boolean allowSegments(SystemCalls linux, int socket, boolean ipv4) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment off = arena.allocateFrom(ValueLayout.JAVA_INT, 0);
      int level = ipv4 ? SOL_SOCKET : IPPROTO_UDP;
      int checksums = ipv4 ? SO_NO_CHECK : UDP_NO_CHECK6_TX;
      return linux.setsockopt(socket, IPPROTO_UDP, UDP_SEGMENT, off) >= 0
          && linux.setsockopt(socket, level, checksums, off) >= 0;
    }
  }

  /**
   * Opens a socket and binds it to an address of this machine. Packets to multicast groups leave
   * through the interface of the address.
   *
   * @param link what it is for, in messages
   * @param receives whether packets are read from it
   * @return its descriptor, or the negative error number of bind
   * @throws LinkException when anything but bind fails
   */
  static int open(
      SystemCalls linux, String link, LocalAddress address, int port, boolean receives) {
    return open(
        linux,
        link,
        address.high(),
        address.low(),
        address.scope(),
        port,
        options -> {
          options.set(SOL_SOCKET, SO_SNDBUF, BUFFER);
          options.set(SOL_SOCKET, SO_RCVBUF, receives ? BUFFER : 1);
          if (address.isIpv4()) { // the kernel selects the interface of the address by itself
            options.set(IPPROTO_IP, IP_MULTICAST_TTL, Packet.DEFAULT_HOP_LIMIT);
          } else {
            options.set(IPPROTO_IPV6, IPV6_MULTICAST_IF, address.device());
            options.set(IPPROTO_IPV6, IPV6_MULTICAST_HOPS, Packet.DEFAULT_HOP_LIMIT);
          }
        });
  }

  /**
   * Opens a socket that receives the packets of a multicast group through the interface of an
   * address of this machine. Several may be open for one group.
   *
   * @param link what it is for, in messages
   * @param high the upper half of the group's address, which is of the same family
   * @param low the lower half
   * @return its descriptor, or the negative error number of bind
   * @throws LinkException when anything but bind fails
   */
  static int openGroup(SystemCalls linux, String link, LocalAddress address, long high, long low) {
    return open(
        linux,
        link,
        high,
        low,
        address.device(),
        UdpLink.PORT,
        options -> {
          options.set(SOL_SOCKET, SO_RCVBUF, BUFFER);
          options.set(SOL_SOCKET, SO_REUSEADDR, 1);
          if (address.isIpv4()) {
            options.set(IPPROTO_IP, IP_MULTICAST_ALL, 0);
            options.join(IPPROTO_IP, IP_ADD_MEMBERSHIP, address, high, low);
          } else {
            options.set(IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
            options.join(IPPROTO_IPV6, IPV6_JOIN_GROUP, address, high, low);
          }
        });
  }

  private static int open(
      SystemCalls linux,
      String link,
      long high,
      long low,
      int scope,
      int port,
      Consumer<Options> more) {
    boolean ipv4 = IpAddress.isIpv4(high, low);
    int family = ipv4 ? SocketName.IPV4_FAMILY : SocketName.IPV6_FAMILY;
    int socket = linux.socket(family, DATAGRAMS | NONBLOCK_CLOSE_ON_EXEC, 0);
    LinuxFailures.check(socket, link, "socket");
    try (Arena arena = Arena.ofConfined()) {
      Options options = new Options(linux, link, socket, arena.allocate(MEMBERSHIP, 8));
      more.accept(options);
      if (ipv4) {
        options.set(IPPROTO_IP, IP_MTU_DISCOVER, NEVER_FRAGMENT);
        options.set(SOL_SOCKET, SO_NO_CHECK, 1);
        options.set(IPPROTO_IP, IP_RECVTOS, 1);
        options.set(IPPROTO_IP, IP_RECVTTL, 1);
      } else {
        options.set(IPPROTO_IPV6, IPV6_V6ONLY, 1);
        options.set(IPPROTO_IPV6, IPV6_MTU_DISCOVER, NEVER_FRAGMENT);
        options.set(IPPROTO_UDP, UDP_NO_CHECK6_TX, 1);
        options.set(IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
        options.set(IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
        options.set(IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
      }
      MemorySegment name = arena.allocate(SocketName.SPACE, 8);
      SocketName.write(name, 0, high, low, port, scope);
      int answer = linux.bind(socket, name.asSlice(0, SocketName.size(ipv4)));
      if (answer < 0) {
        linux.close(socket);
        return answer;
      }
      return socket;
    } catch (RuntimeException e) {
      linux.close(socket);
      throw e;
    }
  }

  /**
   * The options of a socket.
   *
   * @param value memory for {@link #MEMBERSHIP} bytes
   */
  private record Options(SystemCalls linux, String link, int socket, MemorySegment value) {
    void set(int level, int option, int number) {
      value.set(ValueLayout.JAVA_INT, 0, number);
      set(level, option, value.asSlice(0, Integer.BYTES));
    }

    /**
     * Joins a group: {@code struct ip_mreqn} (group, own address, interface) or {@code struct
     * ipv6_mreq} (group, interface).
     */
    void join(int level, int option, LocalAddress address, long high, long low) {
      if (address.isIpv4()) {
        value.set(BIG_ENDIAN, 0, (int) low);
        value.set(BIG_ENDIAN, 4, (int) address.low());
        value.set(ValueLayout.JAVA_INT, 8, 0);
        set(level, option, value.asSlice(0, IP_MEMBERSHIP));
      } else {
        value.set(BIG_ENDIAN, 0, (int) (high >>> 32));
        value.set(BIG_ENDIAN, 4, (int) high);
        value.set(BIG_ENDIAN, 8, (int) (low >>> 32));
        value.set(BIG_ENDIAN, 12, (int) low);
        value.set(ValueLayout.JAVA_INT, 16, address.device());
        set(level, option, value.asSlice(0, MEMBERSHIP));
      }
    }

    private void set(int level, int option, MemorySegment structure) {
      LinuxFailures.check(
          linux.setsockopt(socket, level, option, structure), link, "setsockopt " + option);
    }
  }
}
