package org.hghca.wire.link;

import java.util.Arrays;
import org.hghca.linux.SystemCalls;

/**
 * The sockets of a UDP link: one for each UDP source port that its flows request, as routers
 * distinguish flows by their ports, up to a limit; flows beyond share them. Used by one thread.
 */
final class SourcePorts {
  private static final int ASKED = 1 << 14;

  private final SystemCalls linux;
  private final String link;
  private final LocalAddress address;
  private final LinkWatch watch;
  private final int[] sockets;
  private final int[] ports;

  /** Whether a socket was prepared to send datagrams that the kernel cuts. */
  private final boolean[] segments;

  private int count;

  /** By the lower bits of the requested port: the index of its socket, plus one; 0 is undecided. */
  private final short[] chosen = new short[ASKED];

  /**
   * The socket 0 is the one on which the link receives.
   *
   * @param most source ports in addition to it; 0 to send everything from it
   */
  SourcePorts(
      SystemCalls linux, String link, LocalAddress address, LinkWatch watch, int first, int most) {
    this.linux = linux;
    this.link = link;
    this.address = address;
    this.watch = watch;
    this.sockets = new int[1 + most];
    this.ports = new int[1 + most];
    this.segments = new boolean[1 + most];
    sockets[0] = first;
    ports[0] = UdpLink.PORT;
    count = 1;
  }

  /** Selects a socket for a flow that requests a source port. */
  int choose(int asked) {
    int known = chosen[asked & ASKED - 1];
    return known != 0 ? known - 1 : decide(asked);
  }

  private int decide(int asked) {
    int index = asked == UdpLink.PORT ? 0 : bind(asked);
    if (index < 0) {
      index = count == 1 ? 0 : 1 + Integer.remainderUnsigned(asked, count - 1);
    }
    chosen[asked & ASKED - 1] = (short) (index + 1);
    return index;
  }

  /**
   * Returns -1 where the limit is reached, another program has the port, or no socket can be
   * opened.
   */
  private int bind(int port) {
    if (count == sockets.length) {
      return -1;
    }
    int socket = open(port);
    if (socket < 0) {
      return -1;
    }
    sockets[count] = socket;
    ports[count] = port;
    return count++;
  }

  /** A watched socket, or a negative number: a limit of the process ends no flow. */
  private int open(int port) {
    int socket;
    try {
      socket = UdpSocket.open(linux, link, address, port, false);
    } catch (LinkException e) {
      return -1;
    }
    if (socket >= 0) {
      try {
        watch.add(socket, 0);
      } catch (LinkException e) {
        linux.close(socket);
        return -1;
      }
    }
    return socket;
  }

  int socket(int index) {
    return sockets[index];
  }

  /** The source port of packets that are sent from a socket. */
  int port(int index) {
    return ports[index];
  }

  /**
   * Whether a socket may send datagrams that the kernel cuts. One that may has checksums in all
   * that it sends, so this is for flows that do.
   */
  boolean allowSegments(int index) {
    if (!segments[index]) {
      segments[index] = UdpSocket.allowSegments(linux, sockets[index], address.isIpv4());
    }
    return segments[index];
  }

  void close() {
    for (int socket : Arrays.copyOf(sockets, count)) {
      linux.close(socket);
    }
    count = 0;
  }
}
