package org.hghca.wire.frame;

import static org.hghca.wire.frame.Bytes.CRC;
import static org.hghca.wire.frame.Bytes.INT;
import static org.hghca.wire.frame.Bytes.LONG;
import static org.hghca.wire.frame.Bytes.SHORT;

import java.lang.foreign.MemorySegment;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;

/**
 * Writes packets as frames into one memory. The UDP checksum is 0, as the invariant CRC protects
 * more; Ethernet adds the FCS. Allocates nothing; used by one thread.
 */
public final class FrameEncoder implements PacketEncoder {
  private final MemorySegment memory;
  private final InvariantCrc crc;

  /**
   * @param memory the memory of the frames, less than 2 GiB; {@link FrameLayout#MAX_FRAME} bytes
   *     hold any frame
   */
  public FrameEncoder(MemorySegment memory) {
    this.memory = memory;
    this.crc = new InvariantCrc(memory);
  }

  /**
   * Writes a packet, which stays the caller's.
   *
   * @param at offset of the frame in the memory, in bytes
   * @return the frame's length in bytes; 0 for a packet that has no frame: with addresses that are
   *     not both of IPv4 or both of IPv6, with an unknown opcode, or with payload that its opcode
   *     does not have or that is longer than {@link Packet#MAX_PAYLOAD}
   * @throws IndexOutOfBoundsException when the memory ends before the frame
   */
  @Override
  public int encode(Packet packet, int at) {
    boolean ipv4 = isIpv4(packet);
    if (!ipv4 && !isIpv6(packet) || !isKnown(packet)) {
      return 0;
    }
    int ip = ethernet(packet, at, ipv4 ? FrameLayout.IPV4_TYPE : FrameLayout.IPV6_TYPE);
    int length = FrameLayout.UDP_SIZE + TransportHeaders.length(packet);
    int udp;
    if (ipv4) {
      IpHeader.writeIpv4(memory, ip, packet, length);
      udp = ip + IpHeader.IPV4_SIZE;
    } else {
      IpHeader.writeIpv6(memory, ip, packet, length);
      udp = ip + IpHeader.IPV6_SIZE;
    }
    memory.set(INT, udp, packet.udpSourcePort << 16 | FrameLayout.ROCE_PORT);
    memory.set(INT, udp + 4, length << 16);
    long payload = TransportHeaders.write(memory, udp + FrameLayout.UDP_SIZE, packet);
    if (packet.length > 0) {
      MemorySegment.copy(packet.payload(), 0, memory, payload, packet.length);
    }
    memory.set(INT, payload + packet.length, 0); // padding, and where the CRC comes
    int end = udp + length - TransportHeaders.CRC_SIZE;
    memory.set(CRC, end, ipv4 ? crc.ofIpv4(ip, end) : crc.ofIpv6(ip, end));
    return udp + length - at;
  }

  /**
   * Changes the identification of a frame with IPv4 that was written without a VLAN, which the
   * invariant CRC covers. The checksum of IPv4 is left as it was.
   *
   * @param at offset of the frame in the memory, in bytes
   * @param datagram bytes behind the UDP header
   * @param identification 0 to ffffh
   */
  public void identify(int at, int datagram, int identification) {
    int ip = at + FrameLayout.ETHERNET_SIZE;
    int end = ip + IpHeader.IPV4_SIZE + FrameLayout.UDP_SIZE + datagram - TransportHeaders.CRC_SIZE;
    memory.set(SHORT, ip + 4, (short) identification);
    memory.set(CRC, end, crc.ofIpv4(ip, end));
  }

  private static boolean isIpv4(Packet packet) {
    return IpAddress.isIpv4(packet.sourceIpHigh, packet.sourceIpLow)
        && IpAddress.isIpv4(packet.destinationIpHigh, packet.destinationIpLow);
  }

  private static boolean isIpv6(Packet packet) {
    return IpAddress.isIpv6(packet.sourceIpHigh, packet.sourceIpLow)
        && IpAddress.isIpv6(packet.destinationIpHigh, packet.destinationIpLow);
  }

  private static boolean isKnown(Packet packet) {
    int headers = TransportHeaders.of(packet.opcode);
    int most = (headers & TransportHeaders.PAYLOAD) != 0 ? Packet.MAX_PAYLOAD : 0;
    return headers != TransportHeaders.UNKNOWN && packet.length <= most;
  }

  /** Returns the offset of the IP header. */
  private int ethernet(Packet packet, int at, int type) {
    memory.set(LONG, at, packet.destinationMac << 16 | packet.sourceMac >>> 32 & 0xffff);
    memory.set(INT, at + 8, (int) packet.sourceMac);
    if (packet.vlan == Packet.NO_VLAN) {
      memory.set(SHORT, at + 12, (short) type);
      return at + FrameLayout.ETHERNET_SIZE;
    }
    memory.set(INT, at + 12, FrameLayout.VLAN_TYPE << 16 | packet.vlan & 0xffff);
    memory.set(SHORT, at + 16, (short) type);
    return at + FrameLayout.ETHERNET_SIZE + FrameLayout.VLAN_SIZE;
  }
}
