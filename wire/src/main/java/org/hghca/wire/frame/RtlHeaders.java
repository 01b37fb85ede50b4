package org.hghca.wire.frame;

import static org.hghca.wire.PacketOpcode.OPERATION_MASK;
import static org.hghca.wire.PacketOpcode.READ_RESPONSE_FIRST;
import static org.hghca.wire.PacketOpcode.SEND_ONLY_IMM;
import static org.hghca.wire.PacketOpcode.SERVICE_MASK;
import static org.hghca.wire.PacketOpcode.UD;
import static org.hghca.wire.frame.Bytes.CRC;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.wire.Packet;

/**
 * The transport headers of the makers' first RTL behind Ethernet, IPv4 and UDP, which are as usual.
 * Its words of 32 bits are little-endian; the payload is not padded, and no invariant CRC follows.
 *
 * <pre>
 * base   00h | opcode | 80 in responses | source QPN, 16 bits |
 *        04h | 2 unused | payload length[5:0] | destination QPN |
 *        08h | A | payload length[12:6] | PSN                   |
 * UD         | Q_Key |
 *            | destination IP[15:0] | source QPN, 16 bits |
 *            | destination MAC[15:0] | destination IP[31:16] |
 *            | destination MAC[47:16] |
 * memory     | address[63:32] | address[31:0] | key | length |
 * ack        | syndrome8 | message number |
 * immediate  behind the remote memory
 * </pre>
 *
 * <p>Its datagrams with an immediate leave for another MAC than that of their destination, and are
 * not among these frames. Source: frames that the RTL sent, and accepted from another.
 */
final class RtlHeaders {
  static final int BASE_SIZE = 12;

  private static final ValueLayout.OfInt WORD = CRC;
  private static final int DATAGRAM_SIZE = 16;
  private static final int QPN_MASK = 0xff_ffff;
  private static final int NOT_HERE =
      TransportHeaders.ATOMIC
          | TransportHeaders.ATOMIC_ACK
          | TransportHeaders.INVALIDATE
          | TransportHeaders.RESERVED;

  private RtlHeaders() {}

  /** Whether this encapsulation has frames with an opcode. */
  static boolean has(int opcode) {
    int headers = TransportHeaders.of(opcode);
    boolean isDatagramWithImmediate =
        (opcode & SERVICE_MASK) == UD && (opcode & OPERATION_MASK) == SEND_ONLY_IMM;
    return headers != TransportHeaders.UNKNOWN
        && (headers & NOT_HERE) == 0
        && !isDatagramWithImmediate;
  }

  /** Whether packets of an opcode, which it has, may carry a payload. */
  static boolean hasPayload(int opcode) {
    return (TransportHeaders.of(opcode) & TransportHeaders.PAYLOAD) != 0;
  }

  /** Bytes from the base to the payload of an opcode. */
  static int size(int opcode) {
    boolean isDatagram = (TransportHeaders.of(opcode) & TransportHeaders.DATAGRAM) != 0;
    return BASE_SIZE + (isDatagram ? DATAGRAM_SIZE : TransportHeaders.behindBase(opcode));
  }

  static int opcode(MemorySegment memory, long at) {
    return memory.get(WORD, at) >>> 24;
  }

  /** Bytes of the payload according to the base. */
  static int length(MemorySegment memory, long at) {
    return memory.get(WORD, at + 4) >>> 24 & 0x3f | (memory.get(WORD, at + 8) >>> 24 & 0x7f) << 6;
  }

  private static boolean isResponse(int opcode) {
    return (opcode & SERVICE_MASK) == 0 && (opcode & OPERATION_MASK) >= READ_RESPONSE_FIRST;
  }

  /**
   * Writes the headers of a packet whose opcode it {@link #has}.
   *
   * @return where the payload begins
   */
  static long write(MemorySegment memory, long from, Packet packet) {
    int opcode = packet.opcode;
    int headers = TransportHeaders.of(opcode);
    boolean response = isResponse(opcode);
    int length = packet.length;
    memory.set(WORD, from, opcode << 24 | (response ? 0x80 << 16 : 0) | packet.sourceQpn & 0xffff);
    memory.set(WORD, from + 4, (length & 0x3f) << 24 | packet.destinationQpn & QPN_MASK);
    memory.set(
        WORD,
        from + 8,
        (response ? 0 : 1 << 31) | (length >>> 6 & 0x7f) << 24 | packet.psn & QPN_MASK);
    long at = from + BASE_SIZE;
    if ((headers & TransportHeaders.DATAGRAM) != 0) {
      int ip = (int) packet.destinationIpLow;
      memory.set(WORD, at, packet.queueKey);
      memory.set(WORD, at + 4, ip << 16 | packet.sourceQpn & 0xffff);
      memory.set(WORD, at + 8, (int) packet.destinationMac << 16 | ip >>> 16);
      memory.set(WORD, at + 12, (int) (packet.destinationMac >>> 16));
      at += DATAGRAM_SIZE;
    }
    if ((headers & TransportHeaders.REMOTE_MEMORY) != 0) {
      memory.set(WORD, at, (int) (packet.remoteAddress >>> 32));
      memory.set(WORD, at + 4, (int) packet.remoteAddress);
      memory.set(WORD, at + 8, packet.remoteKey);
      memory.set(WORD, at + 12, packet.dmaLength);
      at += 16;
    }
    if ((headers & TransportHeaders.ACK) != 0) {
      memory.set(WORD, at, packet.syndrome << 24 | packet.msn & QPN_MASK);
      at += 4;
    }
    if ((headers & TransportHeaders.IMMEDIATE) != 0) {
      memory.set(WORD, at, packet.immediate);
      at += 4;
    }
    return at;
  }

  /**
   * Reads the headers of a packet whose opcode it {@link #has}; all of them must be there.
   *
   * @return where the payload begins
   */
  static long read(MemorySegment memory, long from, Packet into) {
    int first = memory.get(WORD, from);
    into.opcode = first >>> 24;
    int headers = TransportHeaders.of(into.opcode);
    into.sourceQpn = first & 0xffff;
    into.destinationQpn = memory.get(WORD, from + 4) & QPN_MASK;
    into.psn = memory.get(WORD, from + 8) & QPN_MASK;
    into.ackRequest = !isResponse(into.opcode) && (into.opcode & SERVICE_MASK) != UD;
    into.solicited = false;
    into.migrated = true;
    into.forwardCongestion = false;
    into.backwardCongestion = false;
    into.partitionKey = Packet.DEFAULT_PARTITION_KEY;
    long at = from + BASE_SIZE;
    if ((headers & TransportHeaders.DATAGRAM) != 0) {
      into.queueKey = memory.get(WORD, at);
      at += DATAGRAM_SIZE;
    }
    if ((headers & TransportHeaders.REMOTE_MEMORY) != 0) {
      into.remoteAddress =
          (long) memory.get(WORD, at) << 32 | Integer.toUnsignedLong(memory.get(WORD, at + 4));
      into.remoteKey = memory.get(WORD, at + 8);
      into.dmaLength = memory.get(WORD, at + 12);
      at += 16;
    }
    if ((headers & TransportHeaders.ACK) != 0) {
      int word = memory.get(WORD, at);
      into.syndrome = word >>> 24;
      into.msn = word & QPN_MASK;
      at += 4;
    }
    if ((headers & TransportHeaders.IMMEDIATE) != 0) {
      into.immediate = memory.get(WORD, at);
      at += 4;
    }
    return at;
  }
}
