package org.hghca.wire.frame;

import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;

/** Reads packets from frames in one memory. Allocates nothing; used by one thread. */
public interface PacketDecoder {
  /**
   * Reads a frame.
   *
   * @param at its offset in the memory, in bytes
   * @param length its bytes, without the FCS of Ethernet
   * @param into receives its fields; undefined when the frame is dropped
   * @return whether the frame is accepted
   * @throws IndexOutOfBoundsException when the frame is not within the memory
   */
  boolean decode(int at, int length, Packet into);

  /** Why the last dropped frame was dropped; undefined before there was one. */
  DropCause cause();
}
