package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.linux.SystemCalls;
import org.hghca.wire.frame.FrameLayout;

/**
 * Programs for a socket's filter in the kernel (classic BPF: {@code struct sock_filter} of code,
 * the two jumps, and a number).
 */
final class PacketFilter {
  private static final int SOL_SOCKET = 1;
  private static final int SO_ATTACH_FILTER = 26;
  private static final int INSTRUCTION = 8;

  private static final int LOAD_WORD = 0x20;
  private static final int LOAD_HALF = 0x28;
  private static final int LOAD_BYTE = 0x30;
  private static final int LOAD_HALF_INDEXED = 0x48;
  private static final int INDEX_OF_IPV4_SIZE = 0xb1;
  private static final int JUMP_EQUAL = 0x15;
  private static final int JUMP_GREATER = 0x25;
  private static final int JUMP_GREATER_OR_EQUAL = 0x35;
  private static final int JUMP_BITS = 0x45;
  private static final int RETURN = 0x06;

  private static final int ALL = 0x4_0000;
  private static final int IGMP = 2;
  private static final int UDP = 17;
  private static final int ICMPV6 = 58;
  private static final int HOP_BY_HOP = 0;
  private static final int LISTENER_QUERY = 130;
  private static final int FIRST_NEIGHBOR_DISCOVERY = 133;
  private static final int LAST_NEIGHBOR_DISCOVERY = 137;

  private PacketFilter() {}

  /**
   * Accepts Ethernet frames to a MAC or to a group that are RoCE v2 over IPv4 or IPv6, ARP,
   * neighbor discovery of IPv6, or about multicast groups: IGMP, and queries of MLD.
   */
  static int[][] ofPort(long mac) {
    return new int[][] {
      {LOAD_WORD, 0, 0, 0},
      {JUMP_EQUAL, 0, 2, (int) (mac >>> 16)},
      {LOAD_HALF, 0, 0, 4},
      {JUMP_EQUAL, 2, 0, (int) mac & 0xffff},
      {LOAD_BYTE, 0, 0, 0},
      {JUMP_BITS, 0, 23, 1},
      {LOAD_HALF, 0, 0, 12},
      {JUMP_EQUAL, 22, 0, 0x0806},
      {JUMP_EQUAL, 0, 6, 0x0800},
      {LOAD_BYTE, 0, 0, 23},
      {JUMP_EQUAL, 19, 0, IGMP},
      {JUMP_EQUAL, 0, 17, UDP},
      {INDEX_OF_IPV4_SIZE, 0, 0, 14},
      {LOAD_HALF_INDEXED, 0, 0, 16},
      {JUMP_EQUAL, 15, 14, FrameLayout.ROCE_PORT},
      {JUMP_EQUAL, 0, 13, 0x86dd},
      {LOAD_BYTE, 0, 0, 20},
      {JUMP_EQUAL, 0, 2, UDP},
      {LOAD_HALF, 0, 0, 56},
      {JUMP_EQUAL, 10, 9, FrameLayout.ROCE_PORT},
      {JUMP_EQUAL, 0, 3, ICMPV6},
      {LOAD_BYTE, 0, 0, 54},
      {JUMP_GREATER_OR_EQUAL, 0, 6, FIRST_NEIGHBOR_DISCOVERY},
      {JUMP_GREATER, 5, 6, LAST_NEIGHBOR_DISCOVERY},
      {JUMP_EQUAL, 0, 4, HOP_BY_HOP},
      {LOAD_BYTE, 0, 0, 54},
      {JUMP_EQUAL, 0, 2, ICMPV6},
      {LOAD_BYTE, 0, 0, 62},
      {JUMP_EQUAL, 1, 0, LISTENER_QUERY},
      {RETURN, 0, 0, 0},
      {RETURN, 0, 0, ALL},
    };
  }

  /** Accepts nothing: packets for the socket end there. */
  static int[][] ofNothing() {
    return new int[][] {{RETURN, 0, 0, 0}};
  }

  /** Attaches a program to a socket; returns 0, or the negative error number. */
  static int attach(SystemCalls linux, int socket, int[][] program) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment code = arena.allocate((long) program.length * INSTRUCTION, 8);
      for (int i = 0; i < program.length; i++) {
        long at = (long) i * INSTRUCTION;
        code.set(ValueLayout.JAVA_SHORT, at, (short) program[i][0]);
        code.set(ValueLayout.JAVA_BYTE, at + 2, (byte) program[i][1]);
        code.set(ValueLayout.JAVA_BYTE, at + 3, (byte) program[i][2]);
        code.set(ValueLayout.JAVA_INT, at + 4, program[i][3]);
      }
      MemorySegment header = arena.allocate(16, 8); // struct sock_fprog
      header.set(ValueLayout.JAVA_SHORT, 0, (short) program.length);
      header.set(ValueLayout.JAVA_LONG, 8, code.address());
      return linux.setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, header);
    }
  }
}
