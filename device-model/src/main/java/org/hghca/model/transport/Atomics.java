package org.hghca.model.transport;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;

/**
 * Executes the atomics of a responder, and keeps the results of the most recent ones: a repeated
 * request is answered from there. Values are little-endian in memory, as in the host.
 */
final class Atomics {
  /** Bytes of the value; its address is a multiple of it. */
  static final int SIZE = 8;

  private static final ValueLayout.OfLong VALUE =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** The results and their PSNs, in a ring. */
  private final int[] psns = new int[OwedResponses.CAPACITY];

  private final long[] originals = new long[OwedResponses.CAPACITY];

  /** Total number of stored results; only the newest are kept. */
  private long count;

  void clear() {
    count = 0;
  }

  /**
   * Executes a request and stores the original value in it. No other work is done meanwhile for any
   * queue pair of the device.
   */
  MemoryStatus execute(KeyedMemory memory, int pd, Packet request) {
    // An atomic has no payload: its memory serves for the value.
    MemoryStatus status =
        memory.read(
            request.remoteKey,
            pd,
            request.remoteAddress,
            MemoryAccess.REMOTE_ATOMIC,
            request.payload(),
            0,
            SIZE);
    if (status != MemoryStatus.OK) {
      return status;
    }
    long original = request.payload().get(VALUE, 0);
    boolean isSwap = (request.opcode & PacketOpcode.OPERATION_MASK) == PacketOpcode.COMPARE_SWAP;
    if (!isSwap || original == request.compare) {
      request.payload().set(VALUE, 0, isSwap ? request.swapAdd : original + request.swapAdd);
      status =
          memory.write(
              request.remoteKey,
              pd,
              request.remoteAddress,
              MemoryAccess.REMOTE_ATOMIC,
              request.payload(),
              0,
              SIZE);
    }
    if (status == MemoryStatus.OK) {
      int at = place(count++);
      psns[at] = request.psn;
      originals[at] = original;
      request.original = original;
    }
    return status;
  }

  /**
   * Puts the result of a request that was executed before into it.
   *
   * @param kept number of the newest results to search
   * @return whether it is among them
   */
  boolean recall(Packet request, int kept) {
    long oldest = Math.max(0, count - Math.min(kept, OwedResponses.CAPACITY));
    for (long i = count - 1; i >= oldest; i--) {
      if (psns[place(i)] == request.psn) {
        request.original = originals[place(i)];
        return true;
      }
    }
    return false;
  }

  private static int place(long result) {
    return (int) result & OwedResponses.CAPACITY - 1;
  }

  /** Makes the original value in a response its payload, for the requester to store. */
  static void takeOriginal(Packet response) {
    response.payload().set(VALUE, 0, response.original);
    response.length = SIZE;
  }
}
