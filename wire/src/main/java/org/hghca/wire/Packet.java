package org.hghca.wire;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A packet in flight: addresses, the transport headers that its opcode has, and a payload. Packets
 * come from a {@link PacketPool} and go back to it; they are used by one thread at a time.
 */
public final class Packet {
  /** The longest payload in bytes: the largest path MTU. */
  public static final int MAX_PAYLOAD = 4096;

  /** Ethernet addresses, 48 bits. */
  public long destinationMac;

  public long sourceMac;

  /** IPv4 addresses. */
  public int destinationIp;

  public int sourceIp;

  /** BTH: service and operation, {@link PacketOpcode}. */
  public int opcode;

  /** BTH: the receiver must raise an event for the completion. */
  public boolean solicited;

  /** BTH: the sender wants an acknowledgement. */
  public boolean ackRequest;

  /** BTH: queue pair at the receiver, 24 bits. */
  public int destinationQpn;

  /** BTH: packet sequence number, 24 bits. */
  public int psn;

  /** RETH: address, key and length of the remote memory. */
  public long remoteAddress;

  public int remoteKey;

  /** RETH: length in bytes, an unsigned number of 32 bits. */
  public int dmaLength;

  /** AtomicETH: value to swap in or to add, and value to compare with. */
  public long swapAdd;

  public long compare;

  /** AtomicAckETH: the original value in memory. */
  public long original;

  /** DETH: Q_Key, and queue pair at the sender, 24 bits. */
  public int queueKey;

  public int sourceQpn;

  /** AETH: acknowledgement, 8 bits. */
  public int syndrome;

  /** AETH: message sequence number, 24 bits. */
  public int msn;

  /** ImmDt. */
  public int immediate;

  /** Number of payload bytes. */
  public int length;

  /** A bit was flipped on the way: the invariant CRC, which has no bytes here, is wrong. */
  public boolean damaged;

  private MemorySegment payload;

  Packet() {}

  /** The payload's memory, {@link #MAX_PAYLOAD} bytes. */
  public MemorySegment payload() {
    if (payload == null) {
      payload = Arena.ofAuto().allocate(MAX_PAYLOAD, 64);
    }
    return payload;
  }

  void clear() {
    solicited = false;
    ackRequest = false;
    length = 0;
    damaged = false;
  }

  void copyFrom(Packet other) {
    destinationMac = other.destinationMac;
    sourceMac = other.sourceMac;
    destinationIp = other.destinationIp;
    sourceIp = other.sourceIp;
    opcode = other.opcode;
    solicited = other.solicited;
    ackRequest = other.ackRequest;
    destinationQpn = other.destinationQpn;
    psn = other.psn;
    remoteAddress = other.remoteAddress;
    remoteKey = other.remoteKey;
    dmaLength = other.dmaLength;
    swapAdd = other.swapAdd;
    compare = other.compare;
    original = other.original;
    queueKey = other.queueKey;
    sourceQpn = other.sourceQpn;
    syndrome = other.syndrome;
    msn = other.msn;
    immediate = other.immediate;
    length = other.length;
    damaged = other.damaged;
    if (length > 0) {
      MemorySegment.copy(other.payload(), 0, payload(), 0, length);
    }
  }
}
