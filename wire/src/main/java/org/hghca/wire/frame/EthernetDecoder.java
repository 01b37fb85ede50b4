package org.hghca.wire.frame;

import static org.hghca.wire.frame.Bytes.INT;
import static org.hghca.wire.frame.Bytes.LONG;
import static org.hghca.wire.frame.Bytes.SHORT;
import static org.hghca.wire.frame.Bytes.byteAt;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;

/**
 * Reads Ethernet frames: valid ones of RoCE v2 as packets, all others as plain frames. Allocates
 * nothing; used by one thread.
 */
public final class EthernetDecoder implements PacketDecoder {
  private static final int MAC_BYTES = 12;

  private final MemorySegment memory;
  private final FrameDecoder roce;

  /**
   * @param memory the memory of the frames, less than 2 GiB
   */
  public EthernetDecoder(MemorySegment memory) {
    this.memory = memory;
    this.roce = new FrameDecoder(memory);
  }

  /** Shorter than an Ethernet header or longer than any frame: nothing else is dropped. */
  @Override
  public DropCause cause() {
    return DropCause.TRUNCATED;
  }

  @Override
  public boolean decode(int at, int length, Packet into) {
    Objects.checkFromIndexSize(at, length, memory.byteSize());
    if (length < FrameLayout.ETHERNET_SIZE || length > Packet.MAX_FRAME) {
      return false;
    }
    into.plain = false;
    if (isToRoce(at, length) && roce.decode(at, length, into)) {
      return true;
    }
    into.plain = true;
    into.damaged = false;
    into.length = length;
    MemorySegment.copy(memory, at, into.payload(), 0, length);
    long first = memory.get(LONG, at);
    into.destinationMac = first >>> 16;
    into.sourceMac = (first & 0xffff) << 32 | Integer.toUnsignedLong(memory.get(INT, at + 8));
    return true;
  }

  /** Whether it is UDP to the port of RoCE, over IPv4 without options or IPv6. */
  private boolean isToRoce(int at, int length) {
    int type = memory.get(SHORT, at + MAC_BYTES) & 0xffff;
    int ip = at + FrameLayout.ETHERNET_SIZE;
    if (type == FrameLayout.VLAN_TYPE
        && length >= FrameLayout.ETHERNET_SIZE + FrameLayout.VLAN_SIZE) {
      type = memory.get(SHORT, ip + 2) & 0xffff;
      ip += FrameLayout.VLAN_SIZE;
    }
    return switch (type) {
      case FrameLayout.IPV4_TYPE -> isToRoce(ip, 9, IpHeader.IPV4_SIZE, at + length);
      case FrameLayout.IPV6_TYPE -> isToRoce(ip, 6, IpHeader.IPV6_SIZE, at + length);
      default -> false;
    };
  }

  private boolean isToRoce(int ip, int protocol, int ipSize, int end) {
    return end - ip >= ipSize + FrameLayout.UDP_SIZE
        && byteAt(memory, ip + protocol) == IpHeader.UDP
        && (memory.get(INT, ip + ipSize) & 0xffff) == FrameLayout.ROCE_PORT;
  }

  /**
   * Inserts a VLAN tag that was removed from a plain frame.
   *
   * @param vlan the tag, 16 bits
   * @return whether there is room for it
   */
  public static boolean tag(Packet frame, int vlan) {
    if (frame.length + FrameLayout.VLAN_SIZE > Packet.MAX_FRAME) {
      return false;
    }
    MemorySegment bytes = frame.payload();
    int rest = frame.length - MAC_BYTES;
    MemorySegment.copy(bytes, MAC_BYTES, bytes, MAC_BYTES + FrameLayout.VLAN_SIZE, rest);
    bytes.set(INT, MAC_BYTES, FrameLayout.VLAN_TYPE << 16 | vlan & 0xffff);
    frame.length += FrameLayout.VLAN_SIZE;
    return true;
  }
}
