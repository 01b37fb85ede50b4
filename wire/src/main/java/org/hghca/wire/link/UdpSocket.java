package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.linux.SystemCalls;
import org.hghca.wire.IpAddress;

/**
 * UDP sockets of the kernel as RoCE needs them: never connected and never fragmenting, which makes
 * the kernel send IPv4 packets with identification 0, so that the invariant CRC can be known.
 */
final class UdpSocket {
  private static final int DATAGRAMS = 2;
  private static final int NONBLOCK_CLOSE_ON_EXEC = 0x800 | 0x80000;

  private static final int SOL_SOCKET = 1;
  private static final int SO_SNDBUF = 7;
  private static final int SO_RCVBUF = 8;
  private static final int SO_NO_CHECK = 11;
  private static final int IPPROTO_IP = 0;
  private static final int IP_MTU_DISCOVER = 10;
  private static final int IP_RECVTTL = 12;
  private static final int IP_RECVTOS = 13;
  private static final int IPPROTO_IPV6 = 41;
  private static final int IPV6_MTU_DISCOVER = 23;
  private static final int IPV6_V6ONLY = 26;
  private static final int IPV6_RECVHOPLIMIT = 51;
  private static final int IPV6_RECVTCLASS = 66;
  private static final int IPPROTO_UDP = 17;
  private static final int UDP_NO_CHECK6_TX = 101;
  private static final int UDP_NO_CHECK6_RX = 102;

  /** IP_PMTUDISC_DO: always DF, and nothing longer than the path's MTU. */
  private static final int NEVER_FRAGMENT = 2;

  /** What is asked for; the kernel gives up to net.core.rmem_max and net.core.wmem_max. */
  private static final int BUFFER = 4 << 20;

  private UdpSocket() {}

  /**
   * Opens a socket and binds it.
   *
   * @param link what it is for, in messages
   * @param receives whether packets are read from it
   * @return its descriptor, or the negative error number of bind
   * @throws LinkException when anything but bind fails
   */
  static int open(
      SystemCalls linux, String link, long high, long low, int scope, int port, boolean receives) {
    boolean ipv4 = IpAddress.isIpv4(high, low);
    int family = ipv4 ? SocketName.IPV4_FAMILY : SocketName.IPV6_FAMILY;
    int socket = linux.socket(family, DATAGRAMS | NONBLOCK_CLOSE_ON_EXEC, 0);
    LinuxFailures.check(socket, link, "socket");
    try (Arena arena = Arena.ofConfined()) {
      Options options = new Options(linux, link, socket, arena.allocate(ValueLayout.JAVA_INT));
      options.set(SOL_SOCKET, SO_SNDBUF, BUFFER);
      options.set(SOL_SOCKET, SO_RCVBUF, receives ? BUFFER : 1);
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

  private record Options(SystemCalls linux, String link, int socket, MemorySegment value) {
    void set(int level, int option, int number) {
      value.set(ValueLayout.JAVA_INT, 0, number);
      LinuxFailures.check(
          linux.setsockopt(socket, level, option, value), link, "setsockopt " + option);
    }
  }
}
