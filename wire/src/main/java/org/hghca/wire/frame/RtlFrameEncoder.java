package org.hghca.wire.frame;

import static org.hghca.wire.frame.Bytes.INT;
import static org.hghca.wire.frame.Bytes.LONG;
import static org.hghca.wire.frame.Bytes.SHORT;

import java.lang.foreign.MemorySegment;
import org.hghca.wire.Packet;

/**
 * Writes packets as the makers' first RTL does: Ethernet, IPv4 that counts its identification and
 * may be fragmented, UDP from and to the port of RoCE with a checksum, which that RTL requires, and
 * {@link RtlHeaders}. Allocates nothing; used by one thread.
 */
final class RtlFrameEncoder implements PacketEncoder {
  private static final int TIME_TO_LIVE = 64;
  private static final int UDP_CHECKSUM = 6;

  private final MemorySegment memory;
  private int identification;

  /**
   * @param memory the memory of the frames, less than 2 GiB
   */
  RtlFrameEncoder(MemorySegment memory) {
    this.memory = memory;
  }

  @Override
  public int encode(Packet packet, int at) {
    if (!RtlHeaders.has(packet.opcode)
        || packet.length > (RtlHeaders.hasPayload(packet.opcode) ? Packet.MAX_PAYLOAD : 0)) {
      return 0;
    }
    memory.set(LONG, at, packet.destinationMac << 16 | packet.sourceMac >>> 32 & 0xffff);
    memory.set(INT, at + 8, (int) packet.sourceMac);
    memory.set(SHORT, at + 12, (short) FrameLayout.IPV4_TYPE);
    int ip = at + FrameLayout.ETHERNET_SIZE;
    int udp = ip + IpHeader.IPV4_SIZE;
    int length = FrameLayout.UDP_SIZE + RtlHeaders.size(packet.opcode) + packet.length;
    ipv4(ip, packet, length);
    memory.set(INT, udp, FrameLayout.ROCE_PORT << 16 | FrameLayout.ROCE_PORT);
    memory.set(INT, udp + 4, length << 16);
    long payload = RtlHeaders.write(memory, udp + FrameLayout.UDP_SIZE, packet);
    if (packet.length > 0) {
      MemorySegment.copy(packet.payload(), 0, memory, payload, packet.length);
    }
    int sum = UdpChecksum.sum(memory, ip, length);
    memory.set(SHORT, udp + UDP_CHECKSUM, (short) (sum == 0xffff ? sum : ~sum)); // 0 is none
    return udp + length - at;
  }

  private void ipv4(int at, Packet packet, int payload) {
    long first =
        (long) IpHeader.IPV4_VERSION_AND_SIZE << 56
            | (long) (IpHeader.IPV4_SIZE + payload) << 32
            | (identification & 0xffffL) << 16;
    long second =
        (long) TIME_TO_LIVE << 56 | (long) IpHeader.UDP << 48 | packet.sourceIpLow & 0xffff_ffffL;
    int third = (int) packet.destinationIpLow;
    identification++;
    memory.set(LONG, at, first);
    memory.set(LONG, at + 8, second);
    memory.set(INT, at + 16, third);
    memory.set(SHORT, at + IpHeader.CHECKSUM, (short) ~IpHeader.sum(first, second, third));
  }
}
