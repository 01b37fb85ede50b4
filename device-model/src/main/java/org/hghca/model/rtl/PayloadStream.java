package org.hghca.model.rtl;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.wire.Packet;

/**
 * The stream of message data between the part that fetches them and the part that makes packets.
 * After a message without data the two are permanently out of step: every packet gets the payload
 * of the previous one, the first one gets none.
 */
final class PayloadStream {
  private final MemorySegment late = Arena.ofAuto().allocate(Packet.MAX_PAYLOAD);
  private final MemorySegment swap = Arena.ofAuto().allocate(Packet.MAX_PAYLOAD);
  private boolean skewed;

  void skew() {
    if (!skewed) {
      late.fill((byte) 0);
    }
    skewed = true;
  }

  /** Gives a packet the payload that comes out of the stream. */
  void pass(Packet packet) {
    if (skewed && packet.length > 0) {
      MemorySegment.copy(packet.payload(), 0, swap, 0, Packet.MAX_PAYLOAD);
      MemorySegment.copy(late, 0, packet.payload(), 0, Packet.MAX_PAYLOAD);
      late.copyFrom(swap);
    }
  }

  void reset() {
    skewed = false;
  }
}
