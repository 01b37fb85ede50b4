package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.wire.Packet;

/**
 * Native memory for datagrams to send. Neighbors of one flow and one length, of which the last may
 * be shorter, are one message with {@code UDP_SEGMENT}: the kernel carries it as a whole, and cuts
 * it where it must. On the wire each datagram is a packet; the IPv4 identifications of a message
 * are 0, 1, 2 and so on. Used by one thread at a time.
 *
 * <pre>
 * struct mmsghdr: see {@link DatagramBatch}     slots      | datagram | datagram | ...
 *  iovec -> vectors of its datagrams            vectors    | address, length | ...
 *  control -> class, hop limit, segment size
 * </pre>
 */
final class SegmentedDatagrams {
  /** The most datagrams of a message: UDP_MAX_SEGMENTS of older kernels. */
  static final int MOST_SEGMENTS = 64;

  /** The most bytes of a message: those of an IPv4 packet without its headers. */
  private static final int MOST_BYTES = 0xffff - 28;

  /** Offset of a datagram in its slot; the headers precede it. */
  private static final int HEADROOM = 64;

  private static final int STRIDE = HEADROOM + 4288;
  private static final int MESSAGE = 64;
  private static final int VECTOR = 16;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

  private final MemorySegment frames;
  private final MemorySegment names;
  private final MemorySegment vectors;
  private final ControlMessages controls;
  private final MemorySegment messages;

  /** All messages from one on: created once, as slicing allocates. */
  private final MemorySegment[] messagesFrom;

  private final int[] sockets;
  private final int[] datagrams;

  /** Slots in use, and messages. */
  private int slots;

  private int count;

  // Of the newest message.

  private int segment;
  private int bytes;
  private boolean open;
  private long destinationHigh;
  private long destinationLow;
  private int trafficClass;
  private int hopLimit;

  /**
   * @param size datagrams that it holds
   */
  SegmentedDatagrams(int size) {
    Arena arena = Arena.ofAuto();
    frames = arena.allocate((long) size * STRIDE, 64);
    names = arena.allocate((long) size * SocketName.SPACE, 8);
    vectors = arena.allocate((long) size * VECTOR, 8);
    controls = new ControlMessages(size);
    messages = arena.allocate((long) size * MESSAGE, 8);
    messagesFrom = new MemorySegment[size];
    sockets = new int[size];
    datagrams = new int[size];
    for (int i = 0; i < size; i++) {
      long message = (long) i * MESSAGE;
      messages.set(LONG, message, names.address() + (long) i * SocketName.SPACE);
      messages.set(LONG, message + 0x20, controls.address(i));
      vectors.set(LONG, (long) i * VECTOR, frames.address() + (long) i * STRIDE + HEADROOM);
      messagesFrom[i] = messages.asSlice(message);
    }
  }

  /** The memory of all slots. */
  MemorySegment frames() {
    return frames;
  }

  /** Offset of the next datagram in {@link #frames}. */
  int next() {
    return slots * STRIDE + HEADROOM;
  }

  /** Datagrams that it holds. */
  int size() {
    return slots;
  }

  /** Messages that it holds. */
  int count() {
    return count;
  }

  /** The messages from one on, as sendmmsg wants them. */
  MemorySegment messagesFrom(int message) {
    return messagesFrom[message];
  }

  /** The socket that sends a message. */
  int socket(int message) {
    return sockets[message];
  }

  /** The number of datagrams of a message. */
  int datagrams(int message) {
    return datagrams[message];
  }

  /** The number of datagrams of the newest message. */
  int segments() {
    return datagrams[count - 1];
  }

  /** Whether a datagram can be one more segment of the newest message. */
  boolean continues(int socket, Packet packet, int length) {
    return open
        && length <= segment
        && bytes + length <= MOST_BYTES
        && datagrams[count - 1] < MOST_SEGMENTS
        && sockets[count - 1] == socket
        && packet.destinationIpLow == destinationLow
        && packet.destinationIpHigh == destinationHigh
        && packet.trafficClass == trafficClass
        && packet.hopLimit == hopLimit;
  }

  /**
   * The written datagram is one more segment of the newest message, which it {@link #continues}.
   */
  void add(int length) {
    int message = count - 1;
    take(length);
    if (++datagrams[message] == 2) {
      controls.segment(message, segment);
      messages.set(LONG, (long) message * MESSAGE + 0x28, controls.length(message));
    }
    messages.set(LONG, (long) message * MESSAGE + 0x18, datagrams[message]);
    open = length == segment;
  }

  /**
   * The written datagram is a message of its own.
   *
   * @param segmentable whether others may follow in it
   * @param scope of link-local IPv6 addresses
   */
  void begin(
      int socket,
      Packet packet,
      boolean ipv4,
      int length,
      int port,
      int scope,
      boolean segmentable) {
    long message = (long) count * MESSAGE;
    long high = packet.destinationIpHigh;
    long low = packet.destinationIpLow;
    SocketName.write(names, (long) count * SocketName.SPACE, high, low, port, scope);
    controls.clear(count);
    if (packet.trafficClass != 0 || packet.hopLimit != Packet.DEFAULT_HOP_LIMIT) {
      controls.add(count, ipv4, packet.trafficClass, packet.hopLimit);
    }
    messages.set(INT, message + 8, SocketName.size(ipv4));
    messages.set(LONG, message + 0x10, vectors.address() + (long) slots * VECTOR);
    messages.set(LONG, message + 0x18, 1);
    messages.set(LONG, message + 0x28, controls.length(count));
    sockets[count] = socket;
    datagrams[count] = 1;
    bytes = 0;
    segment = length;
    open = segmentable;
    destinationHigh = high;
    destinationLow = low;
    trafficClass = packet.trafficClass;
    hopLimit = packet.hopLimit;
    take(length);
    count++;
  }

  /**
   * Has the datagrams of a message sent one by one: the first of them is the message now, and no
   * other is added.
   */
  void separate(int message) {
    open &= message != count - 1;
    controls.whole(message);
    messages.set(LONG, (long) message * MESSAGE + 0x18, 1);
    messages.set(LONG, (long) message * MESSAGE + 0x28, controls.length(message));
  }

  /** A {@link #separate} message is the next of its datagrams. */
  void nextOf(int message) {
    long vector = (long) message * MESSAGE + 0x10;
    messages.set(LONG, vector, messages.get(LONG, vector) + VECTOR);
    datagrams[message]--;
  }

  /** Offset in {@link #frames} of the first datagram of a message. */
  int datagram(int message) {
    return slot(message) * STRIDE + HEADROOM;
  }

  /** Bytes of the first datagram of a message. */
  int length(int message) {
    return (int) vectors.get(LONG, (long) slot(message) * VECTOR + 8);
  }

  private int slot(int message) {
    long vector = messages.get(LONG, (long) message * MESSAGE + 0x10);
    return (int) (vector - vectors.address()) / VECTOR;
  }

  private void take(int length) {
    vectors.set(LONG, (long) slots * VECTOR + 8, length);
    bytes += length;
    slots++;
  }

  void clear() {
    slots = 0;
    count = 0;
    open = false;
  }
}
