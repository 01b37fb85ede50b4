package org.hghca.wire.frame;

import static org.hghca.wire.PacketOpcode.*;
import static org.hghca.wire.frame.Bytes.INT;
import static org.hghca.wire.frame.Bytes.LONG;

import java.lang.foreign.MemorySegment;
import org.hghca.wire.Packet;

/**
 * The InfiniBand transport headers: the base transport header, and those behind it that an opcode
 * has (InfiniBand specification, volume 1, 9.2 and 9.3).
 *
 * <pre>
 * BTH        00h | opcode | SE M pad2 version4 | partition key |
 *            04h | F B reserved6 | destination QPN             |
 *            08h | A reserved7 | PSN                           |
 * DETH       Q_Key, reserved8, source QPN
 * RETH       address (8 bytes), key, length
 * AtomicETH  address (8 bytes), key, swap or add (8 bytes), compare (8 bytes)
 * AETH       syndrome8, message number
 * AtomicAck  original value (8 bytes)
 * ImmDt      immediate
 * IETH       key to invalidate
 * </pre>
 */
public final class TransportHeaders {
  static final int BASE_SIZE = 12;
  static final int CRC_SIZE = 4;

  // The headers of an opcode, in their order, and whether a payload may follow.

  /** DETH: Q_Key and queue pair of the sender of a datagram. */
  public static final int DATAGRAM = 0x01;

  /** RETH: the memory of a WRITE or a READ. */
  public static final int REMOTE_MEMORY = 0x02;

  /** AtomicETH: memory and operands of an atomic. */
  public static final int ATOMIC = 0x04;

  /** AETH: an acknowledgement. */
  public static final int ACK = 0x08;

  /** AtomicAckETH: the value that an atomic read from memory. */
  public static final int ATOMIC_ACK = 0x10;

  /** ImmDt: an immediate. */
  public static final int IMMEDIATE = 0x20;

  /** IETH: the memory key to invalidate. */
  public static final int INVALIDATE = 0x40;

  /** 16 bytes without a meaning. */
  static final int RESERVED = 0x80;

  static final int PAYLOAD = 0x100;

  /** Not an opcode of any service here. */
  static final int UNKNOWN = -1;

  private static final int[] SIZES = {8, 16, 28, 4, 8, 4, 4, 16, 0};

  /** The most bytes of an opcode's headers, without the base transport header. */
  static final int MOST = 28;

  private static final int QPN_MASK = 0xff_ffff;
  private static final int VERSION_MASK = 0x0f;

  private static final short[] HEADERS = new short[256];
  private static final byte[] BEHIND_BASE = new byte[256];

  static {
    for (int opcode = 0; opcode < HEADERS.length; opcode++) {
      int headers = define(opcode);
      HEADERS[opcode] = (short) headers;
      for (int bit = 0; headers != UNKNOWN && bit < SIZES.length; bit++) {
        BEHIND_BASE[opcode] += (byte) ((headers >>> bit & 1) * SIZES[bit]);
      }
    }
  }

  private TransportHeaders() {}

  private static int define(int opcode) {
    int operation = opcode & OPERATION_MASK;
    boolean isData = isSend(operation) || isWrite(operation);
    return switch (opcode & SERVICE_MASK) {
      case RC -> isData ? data(operation) : reliable(operation);
      case UC -> isData ? data(operation) : UNKNOWN;
      case UD ->
          operation == SEND_ONLY || operation == SEND_ONLY_IMM
              ? DATAGRAM | data(operation)
              : UNKNOWN;
      default -> opcode == CONGESTION_NOTIFICATION ? RESERVED : UNKNOWN;
    };
  }

  private static int data(int operation) {
    return PAYLOAD
        | (isWrite(operation) && starts(operation) ? REMOTE_MEMORY : 0)
        | (hasImmediate(operation) ? IMMEDIATE : 0);
  }

  private static int reliable(int operation) {
    return switch (operation) {
      case READ_REQUEST -> REMOTE_MEMORY;
      case READ_RESPONSE_FIRST, READ_RESPONSE_LAST, READ_RESPONSE_ONLY -> ACK | PAYLOAD;
      case READ_RESPONSE_MIDDLE -> PAYLOAD;
      case ACKNOWLEDGE -> ACK;
      case ATOMIC_ACKNOWLEDGE -> ACK | ATOMIC_ACK;
      case COMPARE_SWAP, FETCH_ADD -> ATOMIC;
      case SEND_LAST_INVALIDATE, SEND_ONLY_INVALIDATE -> INVALIDATE | PAYLOAD;
      default -> UNKNOWN;
    };
  }

  /** The headers of an opcode as bits, or {@link #UNKNOWN}. */
  static int of(int opcode) {
    return HEADERS[opcode & 0xff];
  }

  /**
   * Whether the packets of an opcode have a header.
   *
   * @param header such as {@link #REMOTE_MEMORY}
   */
  public static boolean has(int opcode, int header) {
    int headers = of(opcode);
    return headers != UNKNOWN && (headers & header) != 0;
  }

  /** Bytes between the base transport header and the payload. */
  static int behindBase(int opcode) {
    return BEHIND_BASE[opcode & 0xff];
  }

  /** Bytes from the base transport header to the end of the invariant CRC, padding included. */
  public static int length(Packet packet) {
    return BASE_SIZE + behindBase(packet.opcode) + (packet.length + 3 & ~3) + CRC_SIZE;
  }

  /** The version in a base transport header, 0 in all packets so far. */
  static int version(MemorySegment memory, long at) {
    return memory.get(INT, at) >>> 16 & VERSION_MASK;
  }

  /** The opcode in a base transport header. */
  static int opcode(MemorySegment memory, long at) {
    return memory.get(INT, at) >>> 24;
  }

  /** Bytes of padding that a base transport header announces. */
  static int padding(MemorySegment memory, long at) {
    return memory.get(INT, at) >>> 20 & 3;
  }

  /**
   * Writes the headers of a packet.
   *
   * @return where the payload begins
   */
  static long write(MemorySegment memory, long at, Packet packet) {
    memory.set(
        INT,
        at,
        packet.opcode << 24
            | (packet.solicited ? 1 << 23 : 0)
            | (packet.migrated ? 1 << 22 : 0)
            | (-packet.length & 3) << 20
            | packet.partitionKey & 0xffff);
    memory.set(
        INT,
        at + 4,
        (packet.forwardCongestion ? 1 << 31 : 0)
            | (packet.backwardCongestion ? 1 << 30 : 0)
            | packet.destinationQpn & QPN_MASK);
    memory.set(INT, at + 8, (packet.ackRequest ? 1 << 31 : 0) | packet.psn & QPN_MASK);
    return writeBehindBase(memory, at + BASE_SIZE, packet, of(packet.opcode));
  }

  private static long writeBehindBase(MemorySegment memory, long from, Packet packet, int headers) {
    long at = from;
    if ((headers & DATAGRAM) != 0) {
      memory.set(INT, at, packet.queueKey);
      memory.set(INT, at + 4, packet.sourceQpn & QPN_MASK);
      at += 8;
    }
    if ((headers & (REMOTE_MEMORY | ATOMIC)) != 0) {
      memory.set(LONG, at, packet.remoteAddress);
      memory.set(INT, at + 8, packet.remoteKey);
      at += 12;
    }
    if ((headers & REMOTE_MEMORY) != 0) {
      memory.set(INT, at, packet.dmaLength);
      at += 4;
    }
    if ((headers & ATOMIC) != 0) {
      memory.set(LONG, at, packet.swapAdd);
      memory.set(LONG, at + 8, packet.compare);
      at += 16;
    }
    if ((headers & ACK) != 0) {
      memory.set(INT, at, packet.syndrome << 24 | packet.msn & QPN_MASK);
      at += 4;
    }
    if ((headers & ATOMIC_ACK) != 0) {
      memory.set(LONG, at, packet.original);
      at += 8;
    }
    if ((headers & (IMMEDIATE | INVALIDATE)) != 0) {
      memory.set(INT, at, (headers & IMMEDIATE) != 0 ? packet.immediate : packet.invalidateKey);
      at += 4;
    }
    if ((headers & RESERVED) != 0) {
      memory.set(LONG, at, 0);
      memory.set(LONG, at + 8, 0);
      at += 16;
    }
    return at;
  }

  /**
   * Reads the headers of a packet whose opcode is known; all of them must be there.
   *
   * @return where the payload begins
   */
  static long read(MemorySegment memory, long at, Packet into) {
    int first = memory.get(INT, at);
    int second = memory.get(INT, at + 4);
    int third = memory.get(INT, at + 8);
    into.opcode = first >>> 24;
    into.solicited = (first & 1 << 23) != 0;
    into.migrated = (first & 1 << 22) != 0;
    into.partitionKey = first & 0xffff;
    into.forwardCongestion = second < 0;
    into.backwardCongestion = (second & 1 << 30) != 0;
    into.destinationQpn = second & QPN_MASK;
    into.ackRequest = third < 0;
    into.psn = third & QPN_MASK;
    return readBehindBase(memory, at + BASE_SIZE, into, of(into.opcode));
  }

  private static long readBehindBase(MemorySegment memory, long from, Packet into, int headers) {
    long at = from;
    if ((headers & DATAGRAM) != 0) {
      into.queueKey = memory.get(INT, at);
      into.sourceQpn = memory.get(INT, at + 4) & QPN_MASK;
      at += 8;
    }
    if ((headers & (REMOTE_MEMORY | ATOMIC)) != 0) {
      into.remoteAddress = memory.get(LONG, at);
      into.remoteKey = memory.get(INT, at + 8);
      at += 12;
    }
    if ((headers & REMOTE_MEMORY) != 0) {
      into.dmaLength = memory.get(INT, at);
      at += 4;
    }
    if ((headers & ATOMIC) != 0) {
      into.swapAdd = memory.get(LONG, at);
      into.compare = memory.get(LONG, at + 8);
      at += 16;
    }
    if ((headers & ACK) != 0) {
      int word = memory.get(INT, at);
      into.syndrome = word >>> 24;
      into.msn = word & QPN_MASK;
      at += 4;
    }
    if ((headers & ATOMIC_ACK) != 0) {
      into.original = memory.get(LONG, at);
      at += 8;
    }
    if ((headers & IMMEDIATE) != 0) {
      into.immediate = memory.get(INT, at);
      at += 4;
    }
    if ((headers & INVALIDATE) != 0) {
      into.invalidateKey = memory.get(INT, at);
      at += 4;
    }
    return (headers & RESERVED) != 0 ? at + 16 : at;
  }
}
