package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.wire.Packet;
import org.hghca.wire.frame.RestoredHeaders;

/**
 * Native memory for several datagrams to send or to receive with one system call. Each has a slot
 * with room for the headers that the kernel adds and takes away, in front of its bytes, so that a
 * frame can be written and read in place. Used by one thread at a time.
 *
 * <pre>
 * struct mmsghdr (64)             struct cmsghdr of 24 bytes with its value
 *  00h name            30h flags   00h its length
 *  08h name's length   38h bytes   08h level
 *  10h iovec                       0Ch type
 *  18h iovecs                      10h value
 *  20h control
 *  28h control's length
 * </pre>
 */
final class DatagramBatch {
  /** Offset of a datagram in its slot; the headers precede it. */
  private static final int HEADROOM = 64;

  /** Longer datagrams are cut off, and are still too long for a packet. */
  private static final int LONGEST = 4288;

  private static final int STRIDE = HEADROOM + LONGEST;
  private static final int MESSAGE = 64;
  private static final int VECTOR = 16;
  private static final int CONTROL = 24;
  private static final int CONTROLS = 2 * CONTROL;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

  private static final int CONTROL_HEADER = 16;
  private static final int IP_LEVEL = 0;
  private static final int IPV6_LEVEL = 41;
  private static final int IP_TOS = 1;
  private static final int IP_TTL = 2;
  private static final int IPV6_HOPLIMIT = 52;
  private static final int IPV6_TCLASS = 67;

  private final int size;
  private final MemorySegment frames;
  private final MemorySegment names;
  private final MemorySegment vectors;
  private final MemorySegment controls;
  private final MemorySegment messages;

  /** All messages from one on: created once, as slicing allocates. */
  private final MemorySegment[] messagesFrom;

  DatagramBatch(int size) {
    Arena arena = Arena.ofAuto();
    this.size = size;
    this.frames = arena.allocate((long) size * STRIDE, 64);
    this.names = arena.allocate((long) size * SocketName.SPACE, 8);
    this.vectors = arena.allocate((long) size * VECTOR, 8);
    this.controls = arena.allocate((long) size * CONTROLS, 8);
    this.messages = arena.allocate((long) size * MESSAGE, 8);
    this.messagesFrom = new MemorySegment[size];
    for (int i = 0; i < size; i++) {
      long message = (long) i * MESSAGE;
      messages.set(LONG, message, names.address() + (long) i * SocketName.SPACE);
      messages.set(LONG, message + 0x10, vectors.address() + (long) i * VECTOR);
      messages.set(LONG, message + 0x18, 1);
      messages.set(LONG, message + 0x20, controls.address() + (long) i * CONTROLS);
      vectors.set(LONG, (long) i * VECTOR, frames.address() + datagram(i));
      messagesFrom[i] = messages.asSlice(message);
    }
  }

  int size() {
    return size;
  }

  /** The memory of all slots. */
  MemorySegment frames() {
    return frames;
  }

  /** Offset of a slot's datagram in {@link #frames}. */
  int datagram(int slot) {
    return slot * STRIDE + HEADROOM;
  }

  /** The messages from a slot on, as sendmmsg and recvmmsg want them. */
  MemorySegment messagesFrom(int slot) {
    return messagesFrom[slot];
  }

  /** Makes all slots ready to receive into. */
  void prepareToReceive() {
    for (int i = 0; i < size; i++) {
      long message = (long) i * MESSAGE;
      messages.set(INT, message + 8, SocketName.SPACE);
      messages.set(LONG, message + 0x28, CONTROLS);
      vectors.set(LONG, (long) i * VECTOR + 8, LONGEST);
    }
  }

  /**
   * Completes a slot whose datagram is written.
   *
   * @param length bytes of the datagram
   * @param scope of link-local IPv6 addresses
   */
  void address(int slot, boolean ipv4, Packet packet, int length, int port, int scope) {
    long message = (long) slot * MESSAGE;
    SocketName.write(
        names,
        (long) slot * SocketName.SPACE,
        packet.destinationIpHigh,
        packet.destinationIpLow,
        port,
        scope);
    messages.set(INT, message + 8, SocketName.size(ipv4));
    vectors.set(LONG, (long) slot * VECTOR + 8, length);
    boolean plain = packet.trafficClass == 0 && packet.hopLimit == Packet.DEFAULT_HOP_LIMIT;
    messages.set(LONG, message + 0x28, plain ? 0 : CONTROLS);
    if (!plain) {
      long control = (long) slot * CONTROLS;
      control(control, ipv4, ipv4 ? IP_TOS : IPV6_TCLASS, packet.trafficClass);
      control(control + CONTROL, ipv4, ipv4 ? IP_TTL : IPV6_HOPLIMIT, packet.hopLimit);
    }
  }

  /**
   * Completes a slot with a whole frame, whose addresses are in it.
   *
   * @param length bytes of the frame
   */
  void complete(int slot, int length) {
    long message = (long) slot * MESSAGE;
    messages.set(INT, message + 8, 0);
    messages.set(LONG, message + 0x28, 0);
    vectors.set(LONG, (long) slot * VECTOR + 8, length);
  }

  /** The frame, or the datagram, of a slot that is completed. */
  MemorySegment completed(int slot) {
    return frames.asSlice(datagram(slot), vectors.get(LONG, (long) slot * VECTOR + 8));
  }

  private void control(long at, boolean ipv4, int type, int value) {
    controls.set(LONG, at, CONTROL_HEADER + Integer.BYTES);
    controls.set(INT, at + 8, ipv4 ? IP_LEVEL : IPV6_LEVEL);
    controls.set(INT, at + 12, type);
    controls.set(INT, at + CONTROL_HEADER, value);
  }

  /**
   * Restores the headers in front of a received datagram: those that the kernel reports, and the
   * others with their most likely values.
   *
   * @param packet has the destination address, and gets the others
   * @return bytes of the frame, which starts at {@link RestoredHeaders#frame}
   */
  int restore(int slot, boolean ipv4, Packet packet) {
    long message = (long) slot * MESSAGE;
    SocketName.readSource(names, (long) slot * SocketName.SPACE, ipv4, packet);
    packet.trafficClass = 0;
    packet.hopLimit = Packet.DEFAULT_HOP_LIMIT;
    long end = messages.get(LONG, message + 0x28);
    long control = (long) slot * CONTROLS;
    for (long at = 0; at + CONTROL_HEADER < end; at += CONTROL) {
      int type = controls.get(INT, control + at + 12);
      if (type == (ipv4 ? IP_TOS : IPV6_TCLASS)) {
        packet.trafficClass =
            controls.get(ValueLayout.JAVA_BYTE, control + at + CONTROL_HEADER) & 0xff;
      } else {
        packet.hopLimit = controls.get(INT, control + at + CONTROL_HEADER) & 0xff;
      }
    }
    int length = messages.get(INT, message + 0x38);
    return RestoredHeaders.write(frames, datagram(slot), length, ipv4, packet);
  }
}
