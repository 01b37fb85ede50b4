package org.hghca.wire.shm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketRun;
import org.hghca.wire.PortAddresses;

/**
 * The header of a record: that of a packet or of a run of packets, whose payload follows. Its
 * addresses are numbers in the lists of both members; what is not in them, and what few packets
 * have, stands in a second part. Native byte order, as both members are of one machine.
 *
 * <pre>
 *  00h bytes of the record (4), of the payload (4)
 *  08h kind (1), operation (1), last operation (1), flags (1), destination QPN (4)
 *  10h PSN (4), partition key (2), source (1), destination (1)
 *  18h UDP source port (2), traffic class (1), hop limit (1), flow label (4)
 *  20h packets (2), bytes of a full packet (2), identification (2), VLAN (2)
 *  28h remote address or Q_Key and source QPN or syndrome and MSN
 *  30h remote key and length or original value
 *  38h immediate or key to invalidate (4)
 *
 *  40h swap or add (8)     48h compare (8)
 *  50h source IP (16)      60h destination IP (16)
 *  70h destination MAC (8) 78h source MAC (8)
 * </pre>
 */
final class RecordHeader {
  /** Records begin at multiples of this. */
  static final int UNIT = 64;

  static final int SHORT = UNIT;
  static final int LONG = 2 * UNIT;

  static final int PACKET = 1;
  static final int RUN = 2;

  /** An Ethernet frame, which is the payload. */
  static final int FRAME = 3;

  /** The rest of the stream is in the next ring. */
  static final int CONTINUED = 4;

  private static final int SOLICITED = 0x01;
  private static final int ACK_REQUEST = 0x02;
  private static final int MIGRATED = 0x04;
  private static final int FORWARD_CONGESTION = 0x08;
  private static final int BACKWARD_CONGESTION = 0x10;
  private static final int IS_LONG = 0x20;

  /** The number of an address that is in no list. */
  private static final int WRITTEN_OUT = 0xff;

  private static final long LOW = 0xffff_ffffL;
  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;

  private RecordHeader() {}

  /** Bytes that the header of a packet needs. */
  static int size(Packet packet, PortAddresses own, PortAddresses peers) {
    return packet.plain
            || PacketOpcode.isAtomic(packet.opcode & PacketOpcode.OPERATION_MASK)
            || number(own, packet.sourceIpHigh, packet.sourceIpLow) == WRITTEN_OUT
            || number(peers, packet.destinationIpHigh, packet.destinationIpLow) == WRITTEN_OUT
        ? LONG
        : SHORT;
  }

  private static int number(PortAddresses addresses, long high, long low) {
    for (int i = 0; i < addresses.count(); i++) {
      if (addresses.low(i) == low && addresses.high(i) == high) {
        return i;
      }
    }
    return WRITTEN_OUT;
  }

  /**
   * Writes a header.
   *
   * @param size that of {@link #size}
   * @param record bytes of the whole record
   * @param payload bytes of the payload
   */
  static void write(
      MemorySegment memory,
      long at,
      int size,
      int record,
      int payload,
      Packet packet,
      PortAddresses own,
      PortAddresses peers) {
    memory.set(WORD, at, record | (long) payload << 32);
    write(memory, at, size, packet.plain ? FRAME : PACKET, packet, own, peers);
    memory.set(WORD, at + 0x20, packet(packet));
  }

  /** Writes a packet of one line; its first word comes last, see {@link Lines}. */
  static void writeLine(
      MemorySegment memory,
      long at,
      long position,
      Packet packet,
      PortAddresses own,
      PortAddresses peers) {
    write(memory, at, SHORT, PACKET, packet, own, peers);
    Lines.place(memory, at, position, packet(packet));
  }

  private static long packet(Packet packet) {
    return 1L | (packet.identification & 0xffffL) << 32 | (packet.vlan & 0xffffL) << 48;
  }

  /** Writes the header of a run; see {@link #write}. */
  static void write(
      MemorySegment memory,
      long at,
      int size,
      int record,
      PacketRun run,
      PortAddresses own,
      PortAddresses peers) {
    memory.set(WORD, at, record | (long) run.bytes << 32);
    write(memory, at, size, RUN, run.first, own, peers);
    memory.set(
        ValueLayout.JAVA_BYTE, at + 0x0a, (byte) (run.lastOperation & PacketOpcode.OPERATION_MASK));
    memory.set(
        WORD,
        at + 0x20,
        packet(run.first) & ~LOW | run.packets & 0xffffL | (run.mtu & 0xffffL) << 16);
  }

  /** Writes that the stream goes on in another ring. */
  static void writeContinued(MemorySegment memory, long at) {
    memory.set(WORD, at, (long) UNIT);
    memory.set(WORD, at + 8, (long) CONTINUED);
  }

  private static void write(
      MemorySegment memory,
      long at,
      int size,
      int kind,
      Packet packet,
      PortAddresses own,
      PortAddresses peers) {
    int operation = packet.opcode & PacketOpcode.OPERATION_MASK;
    int source = number(own, packet.sourceIpHigh, packet.sourceIpLow);
    int destination = number(peers, packet.destinationIpHigh, packet.destinationIpLow);
    memory.set(
        WORD,
        at + 8,
        kind
            | (packet.opcode & 0xffL) << 8
            | (long) (flags(packet) | (size == LONG ? IS_LONG : 0)) << 24
            | (long) packet.destinationQpn << 32);
    memory.set(
        WORD,
        at + 0x10,
        packet.psn & LOW
            | (packet.partitionKey & 0xffffL) << 32
            | (long) source << 48
            | (long) destination << 56);
    memory.set(
        WORD,
        at + 0x18,
        packet.udpSourcePort & 0xffffL
            | (packet.trafficClass & 0xffL) << 16
            | (packet.hopLimit & 0xffL) << 24
            | (long) packet.flowLabel << 32);
    boolean isDatagram = (packet.opcode & PacketOpcode.SERVICE_MASK) == PacketOpcode.UD;
    boolean isResponse = PacketOpcode.isResponse(operation);
    memory.set(
        WORD,
        at + 0x28,
        isDatagram
            ? pair(packet.queueKey, packet.sourceQpn)
            : isResponse ? pair(packet.syndrome, packet.msn) : packet.remoteAddress);
    memory.set(
        WORD, at + 0x30, isResponse ? packet.original : pair(packet.remoteKey, packet.dmaLength));
    memory.set(
        WORD,
        at + 0x38,
        LOW & (PacketOpcode.invalidates(operation) ? packet.invalidateKey : packet.immediate));
    if (size == LONG) {
      memory.set(WORD, at + 0x40, packet.swapAdd);
      memory.set(WORD, at + 0x48, packet.compare);
      memory.set(WORD, at + 0x50, packet.sourceIpHigh);
      memory.set(WORD, at + 0x58, packet.sourceIpLow);
      memory.set(WORD, at + 0x60, packet.destinationIpHigh);
      memory.set(WORD, at + 0x68, packet.destinationIpLow);
      memory.set(WORD, at + 0x70, packet.destinationMac);
      memory.set(WORD, at + 0x78, packet.sourceMac);
    }
  }

  private static long pair(int low, int high) {
    return low & LOW | (long) high << 32;
  }

  private static int flags(Packet packet) {
    return (packet.solicited ? SOLICITED : 0)
        | (packet.ackRequest ? ACK_REQUEST : 0)
        | (packet.migrated ? MIGRATED : 0)
        | (packet.forwardCongestion ? FORWARD_CONGESTION : 0)
        | (packet.backwardCongestion ? BACKWARD_CONGESTION : 0);
  }

  // What follows takes words that were read once.

  static int bytes(long first) {
    return (int) first;
  }

  static int payload(long first) {
    return (int) (first >>> 32);
  }

  static int kind(long second) {
    return (int) second & 0xff;
  }

  static int opcode(long second) {
    return (int) (second >>> 8) & 0xff;
  }

  static int size(long second) {
    return (second >>> 24 & IS_LONG) != 0 ? LONG : SHORT;
  }

  static int lastOperation(long second) {
    return (int) (second >>> 16) & PacketOpcode.OPERATION_MASK;
  }

  static int packets(long fifth) {
    return (int) fifth & 0xffff;
  }

  static int mtu(long fifth) {
    return (int) (fifth >>> 16) & 0xffff;
  }

  /**
   * Reads the fields of a packet from a header whose size, kind and lengths are checked.
   *
   * @param second the word at 08h, as it was checked
   * @param fifth the word at 20h, as it was checked
   * @param into whose length and payload are not touched
   */
  static void read(
      MemorySegment memory,
      long at,
      long second,
      long fifth,
      Packet into,
      PortAddresses own,
      PortAddresses peers,
      long ownMac,
      long peersMac) {
    into.plain = kind(second) == FRAME;
    into.opcode = opcode(second);
    int flags = (int) (second >>> 24);
    into.solicited = (flags & SOLICITED) != 0;
    into.ackRequest = (flags & ACK_REQUEST) != 0;
    into.migrated = (flags & MIGRATED) != 0;
    into.forwardCongestion = (flags & FORWARD_CONGESTION) != 0;
    into.backwardCongestion = (flags & BACKWARD_CONGESTION) != 0;
    into.destinationQpn = (int) (second >>> 32) & 0xff_ffff;
    long third = memory.get(WORD, at + 0x10);
    into.psn = (int) third & 0xff_ffff;
    into.partitionKey = (int) (third >>> 32) & 0xffff;
    long fourth = memory.get(WORD, at + 0x18);
    into.udpSourcePort = (int) fourth & 0xffff;
    into.trafficClass = (int) (fourth >>> 16) & 0xff;
    into.hopLimit = (int) (fourth >>> 24) & 0xff;
    into.flowLabel = (int) (fourth >>> 32) & 0xf_ffff;
    into.identification = (int) (fifth >>> 32) & 0xffff;
    into.vlan = (short) (fifth >>> 48);
    long sixth = memory.get(WORD, at + 0x28);
    long seventh = memory.get(WORD, at + 0x30);
    int operation = into.opcode & PacketOpcode.OPERATION_MASK;
    if ((into.opcode & PacketOpcode.SERVICE_MASK) == PacketOpcode.UD) {
      into.queueKey = (int) sixth;
      into.sourceQpn = (int) (sixth >>> 32) & 0xff_ffff;
    } else if (PacketOpcode.isResponse(operation)) {
      into.syndrome = (int) sixth & 0xff;
      into.msn = (int) (sixth >>> 32) & 0xff_ffff;
      into.original = seventh;
    } else {
      into.remoteAddress = sixth;
      into.remoteKey = (int) seventh;
      into.dmaLength = (int) (seventh >>> 32);
    }
    into.immediate = (int) memory.get(WORD, at + 0x38);
    into.invalidateKey = into.immediate;
    into.destinationMac = ownMac;
    into.sourceMac = peersMac;
    readAddresses(memory, at, third, size(second) == LONG, into, own, peers);
  }

  private static void readAddresses(
      MemorySegment memory,
      long at,
      long third,
      boolean isLong,
      Packet into,
      PortAddresses own,
      PortAddresses peers) {
    int source = (int) (third >>> 48) & 0xff;
    int destination = (int) (third >>> 56);
    if (source < peers.count()) {
      into.sourceIpHigh = peers.high(source);
      into.sourceIpLow = peers.low(source);
    }
    if (destination < own.count()) {
      into.destinationIpHigh = own.high(destination);
      into.destinationIpLow = own.low(destination);
    }
    if (!isLong) {
      return;
    }
    into.swapAdd = memory.get(WORD, at + 0x40);
    into.compare = memory.get(WORD, at + 0x48);
    if (source >= peers.count()) {
      into.sourceIpHigh = memory.get(WORD, at + 0x50);
      into.sourceIpLow = memory.get(WORD, at + 0x58);
    }
    if (destination >= own.count()) {
      into.destinationIpHigh = memory.get(WORD, at + 0x60);
      into.destinationIpLow = memory.get(WORD, at + 0x68);
    }
    if (into.plain) {
      into.destinationMac = memory.get(WORD, at + 0x70);
      into.sourceMac = memory.get(WORD, at + 0x78);
    } else if (IpAddress.isGroup(into.destinationIpHigh, into.destinationIpLow)) {
      into.destinationMac = IpAddress.groupMac(into.destinationIpHigh, into.destinationIpLow);
    }
  }
}
