package org.hghca.wire.frame;

import org.hghca.wire.Packet;

/** Writes packets as frames into one memory. Allocates nothing; used by one thread. */
public interface PacketEncoder {
  /**
   * Writes a packet, which stays the caller's.
   *
   * @param at offset of the frame in the memory, in bytes
   * @return the frame's length in bytes; 0 for a packet that has no frame in this encapsulation
   * @throws IndexOutOfBoundsException when the memory ends before the frame
   */
  int encode(Packet packet, int at);
}
