package org.hghca.wire;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A packet in flight: addresses, the fields of its network headers, the transport headers that its
 * opcode has, and a payload; or a {@link #plain} Ethernet frame. Packets come from a {@link
 * PacketPool} and go back to it; they are used by one thread at a time.
 */
public final class Packet {
  /** The longest payload in bytes: the largest path MTU. */
  public static final int MAX_PAYLOAD = 4096;

  /** The longest plain frame in bytes, without FCS: the longest that any packet has. */
  public static final int MAX_FRAME = 4206;

  /** {@link #vlan} of a packet without a VLAN tag. */
  public static final int NO_VLAN = -1;

  /** The initial hop limit or time to live of a packet. */
  public static final int DEFAULT_HOP_LIMIT = 64;

  /**
   * The first of the UDP source ports that carry a flow's entropy, and the initial source port of a
   * packet.
   */
  public static final int FIRST_UDP_SOURCE_PORT = 0xc000;

  /** The default partition, full member. */
  public static final int DEFAULT_PARTITION_KEY = 0xffff;

  /**
   * An Ethernet frame that is no packet of RoCE v2: its bytes, addresses included, are the payload.
   * Besides that only {@link #destinationMac}, {@link #sourceMac} and {@link #damaged} have a
   * meaning.
   */
  public boolean plain;

  /** Ethernet addresses, 48 bits. */
  public long destinationMac;

  public long sourceMac;

  /** 802.1Q: priority, drop eligibility and VLAN, 16 bits, or {@link #NO_VLAN}. */
  public int vlan;

  /** IP addresses, IPv4 as ::ffff:a.b.c.d; see {@link IpAddress}. :: is none. */
  public long destinationIpHigh;

  public long destinationIpLow;
  public long sourceIpHigh;
  public long sourceIpLow;

  /** IPv4 type of service or IPv6 traffic class: DSCP in bits 7:2, ECN in bits 1:0. */
  public int trafficClass;

  /** IPv4 time to live or IPv6 hop limit, 8 bits. */
  public int hopLimit;

  /** IPv4 identification, 16 bits; IPv6 has none. */
  public int identification;

  /** IPv6 flow label, 20 bits; IPv4 has none. */
  public int flowLabel;

  /** UDP source port, 16 bits. */
  public int udpSourcePort;

  /** BTH: service and operation, {@link PacketOpcode}. */
  public int opcode;

  /** BTH: the receiver must raise an event for the completion. */
  public boolean solicited;

  /** BTH: the sender requests an acknowledgement. */
  public boolean ackRequest;

  /** BTH: the sender's queue pair has migrated to this path, or has never left it. */
  public boolean migrated;

  /** BTH: partition key, 16 bits. */
  public int partitionKey;

  /** BTH: congestion was met on the way here, or on the way back. */
  public boolean forwardCongestion;

  public boolean backwardCongestion;

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

  /** IETH: the memory key to invalidate. */
  public int invalidateKey;

  /** Number of payload bytes. */
  public int length;

  /** A bit was flipped in flight: the invariant CRC, which has no bytes here, is wrong. */
  public boolean damaged;

  private MemorySegment payload;

  Packet() {
    clear();
  }

  /** Sets the source to an IPv4 address, 0 for none. */
  public void sourceIpv4(int address) {
    sourceIpHigh = 0;
    sourceIpLow = IpAddress.lowOfIpv4(address);
  }

  /** The source as an IPv4 address, 0 for an address of another kind. */
  public int sourceIpv4() {
    return IpAddress.ipv4(sourceIpHigh, sourceIpLow);
  }

  /** Sets the destination to an IPv4 address, 0 for none. */
  public void destinationIpv4(int address) {
    destinationIpHigh = 0;
    destinationIpLow = IpAddress.lowOfIpv4(address);
  }

  /** The destination as an IPv4 address, 0 for an address of another kind. */
  public int destinationIpv4() {
    return IpAddress.ipv4(destinationIpHigh, destinationIpLow);
  }

  /** The payload's memory, {@link #MAX_FRAME} bytes. */
  public MemorySegment payload() {
    if (payload == null) {
      payload = Arena.ofAuto().allocate(MAX_FRAME, 64);
    }
    return payload;
  }

  void clear() {
    plain = false;
    vlan = NO_VLAN;
    destinationIpHigh = 0;
    destinationIpLow = 0;
    sourceIpHigh = 0;
    sourceIpLow = 0;
    trafficClass = 0;
    hopLimit = DEFAULT_HOP_LIMIT;
    identification = 0;
    flowLabel = 0;
    udpSourcePort = FIRST_UDP_SOURCE_PORT;
    solicited = false;
    ackRequest = false;
    migrated = true;
    partitionKey = DEFAULT_PARTITION_KEY;
    forwardCongestion = false;
    backwardCongestion = false;
    length = 0;
    damaged = false;
  }

  void copyFrom(Packet other) {
    copyHeadersFrom(other);
    if (length > 0) {
      MemorySegment.copy(other.payload(), 0, payload(), 0, length);
    }
  }

  /** Copies everything but the payload. */
  void copyHeadersFrom(Packet other) {
    plain = other.plain;
    destinationMac = other.destinationMac;
    sourceMac = other.sourceMac;
    vlan = other.vlan;
    destinationIpHigh = other.destinationIpHigh;
    destinationIpLow = other.destinationIpLow;
    sourceIpHigh = other.sourceIpHigh;
    sourceIpLow = other.sourceIpLow;
    trafficClass = other.trafficClass;
    hopLimit = other.hopLimit;
    identification = other.identification;
    flowLabel = other.flowLabel;
    udpSourcePort = other.udpSourcePort;
    opcode = other.opcode;
    solicited = other.solicited;
    ackRequest = other.ackRequest;
    migrated = other.migrated;
    partitionKey = other.partitionKey;
    forwardCongestion = other.forwardCongestion;
    backwardCongestion = other.backwardCongestion;
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
    invalidateKey = other.invalidateKey;
    length = other.length;
    damaged = other.damaged;
  }
}
