package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.hghca.linux.Mapping;
import org.hghca.linux.SystemCalls;
import org.hghca.wire.Packet;

/**
 * Frames that a packet socket has received, in memory shared with the kernel (packet_mmap of
 * version 2): the kernel fills slots in a circle, and gets each back. A slot begins with {@code
 * struct tpacket2_hdr}. Used by one thread.
 *
 * <pre>
 *  00h status            0Ch where the frame begins (2 bytes)
 *  04h length            18h VLAN tag (2 bytes)
 *  08h bytes that are here
 * </pre>
 */
final class PacketRing implements AutoCloseable {
  private static final int SOL_PACKET = 263;
  private static final int PACKET_RX_RING = 5;
  private static final int PACKET_VERSION = 10;
  private static final int VERSION_2 = 1;
  private static final int PROT_READ_WRITE = 3;
  private static final int MAP_SHARED = 1;

  /** Bytes of the ring, and of the blocks that the kernel allocates for it. */
  private static final int SIZE = 4 << 20;

  private static final int BLOCK = 1 << 16;
  private static final int SMALL_SLOT = 2048;
  private static final int LARGE_SLOT = 8192;

  /** The longest IP packet whose frame, with its headers, fits into a small slot. */
  private static final int SMALL_MTU = 1900;

  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;
  private static final VarHandle STATUS = INT.varHandle();
  private static final int OURS = 1;
  private static final int KERNELS = 0;
  private static final int HAS_VLAN = 0x10;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory;
  private final int slot;
  private int at;

  /**
   * Attaches a ring to a socket; must be called before it is bound.
   *
   * @param link what it is for, in messages
   * @param mtu bytes of the longest IP packet
   */
  PacketRing(SystemCalls linux, String link, int socket, int mtu) {
    slot = mtu <= SMALL_MTU ? SMALL_SLOT : LARGE_SLOT;
    try (Arena values = Arena.ofConfined()) {
      MemorySegment version = values.allocateFrom(INT, VERSION_2);
      LinuxFailures.check(
          linux.setsockopt(socket, SOL_PACKET, PACKET_VERSION, version), link, "PACKET_VERSION");
      MemorySegment request = values.allocateFrom(INT, BLOCK, SIZE / BLOCK, slot, SIZE / slot);
      LinuxFailures.check(
          linux.setsockopt(socket, SOL_PACKET, PACKET_RX_RING, request), link, "PACKET_RX_RING");
    }
    long address = linux.mmap(SIZE, PROT_READ_WRITE, MAP_SHARED, socket, 0);
    LinuxFailures.check(address, link, "mmap");
    memory = Mapping.memory(linux, address, SIZE, arena);
  }

  /** The memory of all slots. */
  MemorySegment memory() {
    return memory;
  }

  /** Whether a frame was received; the next one, until {@link #release}. */
  boolean hasFrame() {
    return ((int) STATUS.getAcquire(memory, (long) at) & OURS) != 0;
  }

  /** The offset of the frame in {@link #memory}. */
  int frame() {
    return at + (memory.get(SHORT, at + 12L) & 0xffff);
  }

  /** Bytes of the frame; the part that did not fit into the slot is cut off. */
  int length() {
    return memory.get(INT, at + 8L);
  }

  /** The VLAN tag that the kernel has removed from the frame, or {@link Packet#NO_VLAN}. */
  int vlan() {
    return (memory.get(INT, at) & HAS_VLAN) != 0
        ? memory.get(SHORT, at + 24L) & 0xffff
        : Packet.NO_VLAN;
  }

  /** Returns the slot to the kernel. */
  void release() {
    STATUS.setRelease(memory, (long) at, KERNELS);
    at = (at + slot) % SIZE;
  }

  @Override
  public void close() {
    arena.close();
  }
}
