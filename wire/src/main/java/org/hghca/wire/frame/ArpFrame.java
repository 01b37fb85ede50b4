package org.hghca.wire.frame;

import static org.hghca.wire.frame.Bytes.INT;
import static org.hghca.wire.frame.Bytes.LONG;
import static org.hghca.wire.frame.Bytes.SHORT;

import java.lang.foreign.MemorySegment;

/**
 * Frames of the address resolution protocol for IPv4 over Ethernet (RFC 826), padded to the
 * shortest frame of Ethernet.
 *
 * <pre>
 *  00h | destination MAC                | source MAC           |
 *  0Ch | 0806 |
 *  0Eh | 0001 | 0800 | 06 | 04 | operation: 1 request, 2 reply |
 *  16h | sender MAC                     | sender IP            |
 *  20h | target MAC                     | target IP            |
 * </pre>
 */
public final class ArpFrame {
  /** Bytes of a written frame. */
  public static final int SIZE = 60;

  private static final int LENGTH = 42;
  private static final int TYPE = 0x0806;
  private static final int TYPE_AT = 12;
  private static final long ETHERNET_AND_IPV4 = 0x0001_0800_0604L;
  private static final int REQUEST = 1;
  private static final int REPLY = 2;
  private static final long BROADCAST = 0xffff_ffff_ffffL;

  private ArpFrame() {}

  /** Writes a request for the MAC of a target. */
  public static void writeRequest(MemorySegment memory, long at, long mac, int ip, int target) {
    write(memory, at, BROADCAST, REQUEST, mac, ip, 0, target);
  }

  /** Writes a reply to a request for our MAC. */
  public static void writeReply(
      MemorySegment memory, long at, long mac, int ip, long toMac, int toIp) {
    write(memory, at, toMac, REPLY, mac, ip, toMac, toIp);
  }

  private static void write(
      MemorySegment memory,
      long at,
      long destination,
      int operation,
      long mac,
      int ip,
      long targetMac,
      int targetIp) {
    memory.set(LONG, at, destination << 16 | mac >>> 32);
    memory.set(INT, at + 8, (int) mac);
    memory.set(SHORT, at + TYPE_AT, (short) TYPE);
    memory.set(LONG, at + 14, ETHERNET_AND_IPV4 << 16 | operation);
    memory.set(LONG, at + 22, mac << 16 | ip >>> 16);
    memory.set(LONG, at + 30, (long) ip << 48 | targetMac);
    memory.set(INT, at + 38, targetIp);
    for (int i = LENGTH; i < SIZE; i += Short.BYTES) {
      memory.set(SHORT, at + i, (short) 0);
    }
  }

  /** Whether a frame is a request or a reply of this protocol. */
  public static boolean isArp(MemorySegment memory, long at, int length) {
    return length >= LENGTH
        && memory.get(SHORT, at + TYPE_AT) == TYPE
        && memory.get(LONG, at + 14) >>> 16 == ETHERNET_AND_IPV4
        && (isRequest(memory, at) || memory.get(SHORT, at + 20) == REPLY);
  }

  /** Whether a frame is a request. */
  public static boolean isRequest(MemorySegment memory, long at) {
    return memory.get(SHORT, at + 20) == REQUEST;
  }

  /** The MAC of the sender. */
  public static long senderMac(MemorySegment memory, long at) {
    return memory.get(LONG, at + 22) >>> 16;
  }

  /** The IPv4 address of the sender, 0 for one without an address. */
  public static int senderIp(MemorySegment memory, long at) {
    return memory.get(INT, at + 28);
  }

  /** The requested IPv4 address, or in a reply that of the requester. */
  public static int targetIp(MemorySegment memory, long at) {
    return memory.get(INT, at + 38);
  }
}
