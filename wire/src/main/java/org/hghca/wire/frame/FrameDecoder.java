package org.hghca.wire.frame;

import static org.hghca.wire.frame.Bytes.CRC;
import static org.hghca.wire.frame.Bytes.INT;
import static org.hghca.wire.frame.Bytes.LONG;
import static org.hghca.wire.frame.Bytes.SHORT;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.hghca.wire.DropCause;
import org.hghca.wire.DropCounters;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;

/**
 * Reads packets from frames in one memory. Checks everything that matters for safety: all lengths,
 * versions, the IPv4 checksum, that the headers are those of the opcode, and the invariant CRC.
 * Ignores permitted deviations of peers: the UDP source port and checksum, the migration state,
 * reserved bits, and bytes behind the IP packet, which Ethernet may have appended. Does not check
 * whether a queue pair accepts the packet. Allocates nothing; used by one thread, except the
 * counters.
 */
public final class FrameDecoder implements PacketDecoder {
  private final MemorySegment memory;
  private final InvariantCrc crc;
  private final boolean restored;
  private final Identification identification = new Identification();
  private final DropCounters drops = new DropCounters();
  private DropCause cause = DropCause.TRUNCATED;

  /**
   * @param memory the memory of the frames, less than 2 GiB
   */
  public FrameDecoder(MemorySegment memory) {
    this(memory, false);
  }

  private FrameDecoder(MemorySegment memory, boolean restored) {
    this.memory = memory;
    this.crc = new InvariantCrc(memory);
    this.restored = restored;
  }

  /**
   * A decoder of frames with {@link RestoredHeaders}: a wrong invariant CRC is accepted if it is
   * correct with another IPv4 identification, which takes 16 of its bits.
   *
   * @param memory the memory of the frames, less than 2 GiB
   */
  public static FrameDecoder ofRestored(MemorySegment memory) {
    return new FrameDecoder(memory, true);
  }

  /** The dropped frames. */
  public DropCounters drops() {
    return drops;
  }

  @Override
  public DropCause cause() {
    return cause;
  }

  /**
   * Reads a frame.
   *
   * @param at its offset in the memory, in bytes
   * @param length its bytes, without the FCS of Ethernet
   * @param into receives its fields; undefined when the frame is dropped, except for {@link
   *     DropCause#ICRC}: then it holds the fields, and is marked as damaged
   * @return whether the frame is accepted; otherwise it is counted in {@link #drops}
   * @throws IndexOutOfBoundsException when the frame is not within the memory
   */
  @Override
  public boolean decode(int at, int length, Packet into) {
    Objects.checkFromIndexSize(at, length, memory.byteSize());
    int end = at + length;
    if (length < FrameLayout.ETHERNET_SIZE) {
      return drop(DropCause.TRUNCATED);
    }
    long first = memory.get(LONG, at);
    into.destinationMac = first >>> 16;
    into.sourceMac = (first & 0xffff) << 32 | Integer.toUnsignedLong(memory.get(INT, at + 8));
    into.vlan = Packet.NO_VLAN;
    int type = unsignedShort(at + 12);
    int ip = at + FrameLayout.ETHERNET_SIZE;
    if (type == FrameLayout.VLAN_TYPE) {
      if (length < FrameLayout.ETHERNET_SIZE + FrameLayout.VLAN_SIZE) {
        return drop(DropCause.TRUNCATED);
      }
      into.vlan = unsignedShort(at + 14);
      type = unsignedShort(at + 16);
      ip += FrameLayout.VLAN_SIZE;
    }
    return switch (type) {
      case FrameLayout.IPV4_TYPE -> ipv4(ip, end, into);
      case FrameLayout.IPV6_TYPE -> ipv6(ip, end, into);
      default -> drop(DropCause.ETHER_TYPE);
    };
  }

  private boolean ipv4(int ip, int end, Packet into) {
    if (end - ip < IpHeader.IPV4_SIZE + FrameLayout.UDP_SIZE) {
      return drop(DropCause.TRUNCATED);
    }
    long first = memory.get(LONG, ip);
    long second = memory.get(LONG, ip + 8);
    int destination = memory.get(INT, ip + 16);
    if (first >>> 56 != IpHeader.IPV4_VERSION_AND_SIZE) {
      return drop(DropCause.IP_HEADER);
    }
    if (IpHeader.sum(first, second, destination) != 0xffff) {
      return drop(DropCause.IP_CHECKSUM);
    }
    int length = (int) (first >>> 32) & 0xffff;
    if (length < IpHeader.IPV4_SIZE + FrameLayout.UDP_SIZE || length > end - ip) {
      return drop(DropCause.IP_LENGTH);
    }
    if ((first & 0xffff & ~IpHeader.DO_NOT_FRAGMENT) != 0) {
      return drop(DropCause.IP_FRAGMENT);
    }
    if (destination == 0 || (int) second == 0) {
      return drop(DropCause.IP_ADDRESS);
    }
    into.trafficClass = (int) (first >>> 48) & 0xff;
    into.identification = (int) (first >>> 16) & 0xffff;
    into.flowLabel = 0;
    into.hopLimit = (int) (second >>> 56);
    into.sourceIpv4((int) second);
    into.destinationIpv4(destination);
    boolean isUdp = (second >>> 48 & 0xff) == IpHeader.UDP;
    return isUdp && udp(ip, IpHeader.IPV4_SIZE, ip + length, into)
        || !isUdp && drop(DropCause.NOT_ROCE);
  }

  private boolean ipv6(int ip, int end, Packet into) {
    if (end - ip < IpHeader.IPV6_SIZE + FrameLayout.UDP_SIZE) {
      return drop(DropCause.TRUNCATED);
    }
    long first = memory.get(LONG, ip);
    if (first >>> 60 != IpHeader.IPV6_VERSION) {
      return drop(DropCause.IP_HEADER);
    }
    int length = (int) (first >>> 16) & 0xffff;
    if (length < FrameLayout.UDP_SIZE || length > end - ip - IpHeader.IPV6_SIZE) {
      return drop(DropCause.IP_LENGTH);
    }
    into.trafficClass = (int) (first >>> 52) & 0xff;
    into.flowLabel = (int) (first >>> 32) & 0xf_ffff;
    into.identification = 0;
    into.hopLimit = (int) first & 0xff;
    into.sourceIpHigh = memory.get(LONG, ip + 8);
    into.sourceIpLow = memory.get(LONG, ip + 16);
    into.destinationIpHigh = memory.get(LONG, ip + 24);
    into.destinationIpLow = memory.get(LONG, ip + 32);
    if (!IpAddress.isIpv6(into.sourceIpHigh, into.sourceIpLow)
        || !IpAddress.isIpv6(into.destinationIpHigh, into.destinationIpLow)) {
      return drop(DropCause.IP_ADDRESS);
    }
    boolean isUdp = (first >>> 8 & 0xff) == IpHeader.UDP;
    return isUdp && udp(ip, IpHeader.IPV6_SIZE, ip + IpHeader.IPV6_SIZE + length, into)
        || !isUdp && drop(DropCause.NOT_ROCE);
  }

  /** Continues at UDP, which ends with the IP packet. */
  private boolean udp(int ip, int ipSize, int end, Packet into) {
    int udp = ip + ipSize;
    int ports = memory.get(INT, udp);
    if ((ports & 0xffff) != FrameLayout.ROCE_PORT) {
      return drop(DropCause.NOT_ROCE);
    }
    if (unsignedShort(udp + 4) != end - udp) {
      return drop(DropCause.UDP_LENGTH);
    }
    into.udpSourcePort = ports >>> 16;
    return transport(ip, udp + FrameLayout.UDP_SIZE, end - TransportHeaders.CRC_SIZE, into);
  }

  /**
   * @param base offset of the base transport header
   * @param end offset of the invariant CRC
   */
  private boolean transport(int ip, int base, int end, Packet into) {
    if (end - base < TransportHeaders.BASE_SIZE) {
      return drop(DropCause.TRANSPORT_LENGTH);
    }
    if (TransportHeaders.version(memory, base) != 0) {
      return drop(DropCause.TRANSPORT_VERSION);
    }
    int opcode = TransportHeaders.opcode(memory, base);
    int headers = TransportHeaders.of(opcode);
    if (headers == TransportHeaders.UNKNOWN) {
      return drop(DropCause.OPCODE);
    }
    int body = end - base - TransportHeaders.BASE_SIZE - TransportHeaders.behindBase(opcode);
    int most = (headers & TransportHeaders.PAYLOAD) != 0 ? Packet.MAX_PAYLOAD : 0;
    if (body < 0 || body > most) {
      return drop(DropCause.TRANSPORT_LENGTH);
    }
    int padding = TransportHeaders.padding(memory, base);
    if ((body & 3) != 0 || padding > body) {
      return drop(DropCause.PADDING);
    }
    boolean ipv4 = base - ip == IpHeader.IPV4_SIZE + FrameLayout.UDP_SIZE;
    int difference = memory.get(CRC, end) ^ (ipv4 ? crc.ofIpv4(ip, end) : crc.ofIpv6(ip, end));
    into.damaged = difference != 0 && !(restored && ipv4 && identify(difference, ip, end, into));
    long payload = TransportHeaders.read(memory, base, into);
    into.length = body - padding;
    if (into.length > 0) {
      MemorySegment.copy(memory, payload, into.payload(), 0, into.length);
    }
    return !into.damaged || drop(DropCause.ICRC);
  }

  private boolean identify(int difference, int ip, int end, Packet into) {
    int wrong = identification.solve(difference, end - ip - IpHeader.BEHIND_IDENTIFICATION);
    if (wrong == Identification.NONE) {
      return false;
    }
    into.identification ^= wrong;
    return true;
  }

  private int unsignedShort(int at) {
    return memory.get(SHORT, at) & 0xffff;
  }

  private boolean drop(DropCause why) {
    drops.count(why);
    cause = why;
    return false;
  }
}
