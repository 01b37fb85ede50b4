package org.hghca.wire.frame;

import static org.hghca.wire.frame.Bytes.INT;
import static org.hghca.wire.frame.Bytes.LONG;
import static org.hghca.wire.frame.Bytes.SHORT;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;

/**
 * Reads packets as the makers' first RTL sends them, see {@link RtlFrameEncoder}. Checks all
 * lengths, both checksums, and that the headers are those of the opcode. Allocates nothing; used by
 * one thread.
 */
final class RtlFrameDecoder implements PacketDecoder {
  private static final int PORTS = FrameLayout.ROCE_PORT << 16 | FrameLayout.ROCE_PORT;

  private final MemorySegment memory;
  private DropCause cause = DropCause.TRUNCATED;

  /**
   * @param memory the memory of the frames, less than 2 GiB
   */
  RtlFrameDecoder(MemorySegment memory) {
    this.memory = memory;
  }

  @Override
  public DropCause cause() {
    return cause;
  }

  @Override
  public boolean decode(int at, int length, Packet into) {
    Objects.checkFromIndexSize(at, length, memory.byteSize());
    int ip = at + FrameLayout.ETHERNET_SIZE;
    int udp = ip + IpHeader.IPV4_SIZE;
    if (length < udp + FrameLayout.UDP_SIZE - at) {
      return drop(DropCause.TRUNCATED);
    }
    if ((memory.get(SHORT, at + 12) & 0xffff) != FrameLayout.IPV4_TYPE) {
      return drop(DropCause.ETHER_TYPE);
    }
    long mac = memory.get(LONG, at);
    into.destinationMac = mac >>> 16;
    into.sourceMac = (mac & 0xffff) << 32 | Integer.toUnsignedLong(memory.get(INT, at + 8));
    into.vlan = Packet.NO_VLAN;
    long first = memory.get(LONG, ip);
    long second = memory.get(LONG, ip + 8);
    int third = memory.get(INT, ip + 16);
    int total = (int) (first >>> 32) & 0xffff;
    DropCause wrong = ip(first, second, third, total, at + length - ip);
    if (wrong != null) {
      return drop(wrong);
    }
    into.trafficClass = (int) (first >>> 48) & 0xff;
    into.identification = (int) (first >>> 16) & 0xffff;
    into.flowLabel = 0;
    into.hopLimit = (int) (second >>> 56);
    into.sourceIpv4((int) second);
    into.destinationIpv4(third);
    if (memory.get(INT, udp) != PORTS) {
      return drop(DropCause.NOT_ROCE);
    }
    into.udpSourcePort = FrameLayout.ROCE_PORT;
    int datagram = total - IpHeader.IPV4_SIZE;
    if ((memory.get(SHORT, udp + 4) & 0xffff) != datagram) {
      return drop(DropCause.UDP_LENGTH);
    }
    if (UdpChecksum.sum(memory, ip, datagram) != 0xffff) {
      return drop(DropCause.UDP_CHECKSUM);
    }
    return transport(udp + FrameLayout.UDP_SIZE, datagram - FrameLayout.UDP_SIZE, into);
  }

  /** Returns what is wrong with an IPv4 header, or null. */
  private static DropCause ip(long first, long second, int third, int total, int present) {
    if (first >>> 56 != IpHeader.IPV4_VERSION_AND_SIZE) {
      return DropCause.IP_HEADER;
    }
    if (IpHeader.sum(first, second, third) != 0xffff) {
      return DropCause.IP_CHECKSUM;
    }
    if (total < IpHeader.IPV4_SIZE + FrameLayout.UDP_SIZE || total > present) {
      return DropCause.IP_LENGTH;
    }
    if ((first & 0xffff & ~IpHeader.DO_NOT_FRAGMENT) != 0) {
      return DropCause.IP_FRAGMENT;
    }
    return (second >>> 48 & 0xff) == IpHeader.UDP ? null : DropCause.NOT_ROCE;
  }

  private boolean transport(int base, int bytes, Packet into) {
    if (bytes < RtlHeaders.BASE_SIZE) {
      return drop(DropCause.TRANSPORT_LENGTH);
    }
    int opcode = RtlHeaders.opcode(memory, base);
    if (!RtlHeaders.has(opcode)) {
      return drop(DropCause.OPCODE);
    }
    int body = bytes - RtlHeaders.size(opcode);
    int most = RtlHeaders.hasPayload(opcode) ? Packet.MAX_PAYLOAD : 0;
    if (body < 0 || body > most || body != RtlHeaders.length(memory, base)) {
      return drop(DropCause.TRANSPORT_LENGTH);
    }
    long payload = RtlHeaders.read(memory, base, into);
    into.damaged = false;
    into.length = body;
    if (body > 0) {
      MemorySegment.copy(memory, payload, into.payload(), 0, body);
    }
    return true;
  }

  private boolean drop(DropCause why) {
    cause = why;
    return false;
  }
}
