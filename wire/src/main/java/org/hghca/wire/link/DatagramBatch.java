package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.wire.Packet;

/**
 * Native memory for several datagrams to receive, or frames to send, with one system call. Each has
 * a slot with room in front of it for the headers that the kernel takes away, so that a frame can
 * be read in place. Used by one thread at a time.
 *
 * <pre>
 * struct mmsghdr (64)
 *  00h name            30h flags
 *  08h name's length   38h bytes
 *  10h iovec
 *  18h iovecs
 *  20h control
 *  28h control's length
 * </pre>
 */
final class DatagramBatch {
  /** Offset of a datagram in its slot; the headers precede it. */
  private static final int HEADROOM = 64;

  /** Longer frames are cut off, and are still too long for a packet. */
  private static final int LONGEST_FRAME = 4288;

  /** The longest datagram, which may be several. */
  private static final int LONGEST_DATAGRAM = 1 << 16;

  private static final int MESSAGE = 64;
  private static final int VECTOR = 16;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

  private final int size;
  private final int longest;
  private final MemorySegment frames;
  private final MemorySegment names;
  private final MemorySegment vectors;
  private final ControlMessages controls;
  private final MemorySegment messages;

  /** All messages from one on: created once, as slicing allocates. */
  private final MemorySegment[] messagesFrom;

  private DatagramBatch(int size, int longest) {
    Arena arena = Arena.ofAuto();
    this.size = size;
    this.longest = longest;
    this.frames = arena.allocate((long) size * stride(), 64);
    this.names = arena.allocate((long) size * SocketName.SPACE, 8);
    this.vectors = arena.allocate((long) size * VECTOR, 8);
    this.controls = new ControlMessages(size);
    this.messages = arena.allocate((long) size * MESSAGE, 8);
    this.messagesFrom = new MemorySegment[size];
    for (int i = 0; i < size; i++) {
      long message = (long) i * MESSAGE;
      messages.set(LONG, message, names.address() + (long) i * SocketName.SPACE);
      messages.set(LONG, message + 0x10, vectors.address() + (long) i * VECTOR);
      messages.set(LONG, message + 0x18, 1);
      messages.set(LONG, message + 0x20, controls.address(i));
      vectors.set(LONG, (long) i * VECTOR, frames.address() + datagram(i));
      messagesFrom[i] = messages.asSlice(message);
    }
  }

  /** Slots for frames. */
  static DatagramBatch ofFrames(int size) {
    return new DatagramBatch(size, LONGEST_FRAME);
  }

  /** Slots for datagrams of which each may be several that the kernel has joined. */
  static DatagramBatch ofJoined(int size) {
    return new DatagramBatch(size, LONGEST_DATAGRAM);
  }

  private int stride() {
    return HEADROOM + longest;
  }

  /** The memory of all slots. */
  MemorySegment frames() {
    return frames;
  }

  /** Offset of a slot's datagram in {@link #frames}. */
  int datagram(int slot) {
    return slot * stride() + HEADROOM;
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
      messages.set(LONG, message + 0x28, ControlMessages.SPACE);
      vectors.set(LONG, (long) i * VECTOR + 8, longest);
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

  /** Bytes of the frame of a slot that is completed. */
  long completed(int slot) {
    return vectors.get(LONG, (long) slot * VECTOR + 8);
  }

  /** Bytes of a received datagram. */
  int length(int slot) {
    return messages.get(INT, (long) slot * MESSAGE + 0x38);
  }

  /**
   * Reads what the kernel reports of a received datagram.
   *
   * @param packet gets source, class and hop limit
   * @return the size of the datagrams of which it was joined, the last of which may be shorter; 0
   *     where it is one
   */
  int describe(int slot, boolean ipv4, Packet packet) {
    SocketName.readSource(names, (long) slot * SocketName.SPACE, ipv4, packet);
    return controls.read(slot, messages.get(LONG, (long) slot * MESSAGE + 0x28), packet);
  }
}
