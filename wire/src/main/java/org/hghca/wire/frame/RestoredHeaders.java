package org.hghca.wire.frame;

import static org.hghca.wire.frame.Bytes.INT;
import static org.hghca.wire.frame.Bytes.LONG;
import static org.hghca.wire.frame.Bytes.SHORT;

import java.lang.foreign.MemorySegment;
import org.hghca.wire.Packet;

/**
 * The headers of a datagram that a UDP socket has removed: written back, the datagram is a frame
 * again. Fields that the socket does not report have the values of most senders.
 */
public final class RestoredHeaders {

  private RestoredHeaders() {}

  /** Bytes of the headers of Ethernet, IP and UDP. */
  public static int size(boolean ipv4) {
    int ip = ipv4 ? IpHeader.IPV4_SIZE : IpHeader.IPV6_SIZE;
    return FrameLayout.ETHERNET_SIZE + ip + FrameLayout.UDP_SIZE;
  }

  /** The offset of the frame whose datagram is at an offset. */
  public static int frame(int datagram, boolean ipv4) {
    return datagram - size(ipv4);
  }

  /**
   * Writes the headers in front of a datagram, without Ethernet addresses.
   *
   * @param at offset of the datagram; {@link #size} bytes in front of it are written
   * @param length bytes of the datagram
   * @param packet has addresses, class, hop limit, source port, and the likely IPv4 identification
   * @return bytes of the frame
   */
  public static int write(MemorySegment memory, int at, int length, boolean ipv4, Packet packet) {
    int frame = frame(at, ipv4);
    memory.set(LONG, frame, 0);
    memory.set(INT, frame + 8, 0);
    memory.set(SHORT, frame + 12, (short) (ipv4 ? FrameLayout.IPV4_TYPE : FrameLayout.IPV6_TYPE));
    int ip = frame + FrameLayout.ETHERNET_SIZE;
    int udpLength = FrameLayout.UDP_SIZE + length;
    packet.flowLabel = 0;
    if (ipv4) {
      IpHeader.writeIpv4(memory, ip, packet, udpLength);
    } else {
      IpHeader.writeIpv6(memory, ip, packet, udpLength);
    }
    int udp = at - FrameLayout.UDP_SIZE;
    memory.set(INT, udp, packet.udpSourcePort << 16 | FrameLayout.ROCE_PORT);
    memory.set(INT, udp + 4, udpLength << 16);
    return size(ipv4) + length;
  }
}
