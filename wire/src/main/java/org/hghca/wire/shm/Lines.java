package org.hghca.wire.shm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;

/**
 * The layout of short records: packets with so little payload that they are one line of a cache,
 * which crosses from one processor to the other at once. A record in the ring takes three: the
 * head, the header and the payload. They lie in the page of the member that writes them, and are
 * used one after another. Each is a {@link RecordHeader}, but for
 *
 * <pre>
 *  00h bytes of the payload (1), how many were written before it, plus one (7): written last
 *  20h where it stands in the stream of the ring, in records' units (4)
 *  28h payload where there are no such fields: of 8, 16 or 24 bytes, which end at 38h or 40h
 * </pre>
 */
final class Lines {
  static final int COUNT = 56;
  static final int BYTES = RecordHeader.UNIT;

  /** So many lines the reader takes before it tells the writer. */
  static final int TOLD_EACH = COUNT / 4;

  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;
  private static final VarHandle FIRST = WORD.varHandle();
  private static final long LOW = 0xffff_ffffL;
  private static final int NUMBER_SHIFT = 8;

  private static final int SENDS_AT = 0x28;
  private static final int RESPONSES_AT = 0x30;
  private static final int WRITES_AT = 0x38;
  private static final int IMMEDIATE_AT = 0x38;

  private Lines() {}

  /** Where the line is that follows a number of others. */
  static long at(long before) {
    return PairPage.LINES + before % COUNT * BYTES;
  }

  /** Whether a packet with an operation and a payload can be one. */
  static boolean fits(int opcode, int payload) {
    int service = opcode & PacketOpcode.SERVICE_MASK;
    return (service == PacketOpcode.RC || service == PacketOpcode.UC)
        && payload <= room(opcode & PacketOpcode.OPERATION_MASK);
  }

  private static int room(int operation) {
    int end =
        PacketOpcode.hasImmediate(operation) || PacketOpcode.invalidates(operation)
            ? IMMEDIATE_AT
            : BYTES;
    return end - payloadAt(operation);
  }

  private static int payloadAt(int operation) {
    if (PacketOpcode.isSend(operation)) {
      return SENDS_AT;
    }
    return PacketOpcode.isResponse(operation) && operation != PacketOpcode.ATOMIC_ACKNOWLEDGE
        ? RESPONSES_AT
        : WRITES_AT;
  }

  /** Writes the payload over fields that the packet does not have. */
  static void writePayload(MemorySegment memory, long at, Packet packet) {
    int to = payloadAt(packet.opcode & PacketOpcode.OPERATION_MASK);
    MemorySegment.copy(packet.payload(), 0, memory, at + to, packet.length);
  }

  /** Reads a payload whose length was checked, and clears the fields that it stood in place of. */
  static void readPayload(MemorySegment memory, long at, Packet into) {
    int operation = into.opcode & PacketOpcode.OPERATION_MASK;
    int from = payloadAt(operation);
    MemorySegment.copy(memory, at + from, into.payload(), 0, into.length);
    if (from == SENDS_AT) {
      into.remoteAddress = 0;
      into.remoteKey = 0;
      into.dmaLength = 0;
    } else if (from == RESPONSES_AT) {
      into.original = 0;
    }
    if (from + into.length > IMMEDIATE_AT) {
      into.immediate = 0;
      into.invalidateKey = 0;
    }
  }

  static void place(MemorySegment memory, long at, long position, long fifth) {
    memory.set(WORD, at + 0x20, fifth & ~LOW | position / RecordHeader.UNIT & LOW);
  }

  /** Whether it stands at a position of the stream. */
  static boolean isAt(long fifth, long position) {
    return (int) fifth == (int) (position / RecordHeader.UNIT);
  }

  /** Shows it. */
  static void show(MemorySegment memory, long at, long before, int payload) {
    FIRST.setRelease(memory, at, before + 1 << NUMBER_SHIFT | payload);
  }

  static long first(MemorySegment memory, long at) {
    return (long) FIRST.getAcquire(memory, at);
  }

  /** Whether it is the one that follows a number of others. */
  static boolean follows(long first, long before) {
    return first >>> NUMBER_SHIFT == before + 1;
  }

  static int payload(long first) {
    return (int) first & (1 << NUMBER_SHIFT) - 1;
  }
}
