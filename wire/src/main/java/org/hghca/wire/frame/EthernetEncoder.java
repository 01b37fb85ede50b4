package org.hghca.wire.frame;

import java.lang.foreign.MemorySegment;
import org.hghca.wire.Packet;

/**
 * Writes packets of RoCE v2 as {@link FrameEncoder} does, and plain frames as they are. Allocates
 * nothing; used by one thread.
 */
public final class EthernetEncoder implements PacketEncoder {
  private final MemorySegment memory;
  private final FrameEncoder roce;

  /**
   * @param memory the memory of the frames, less than 2 GiB
   */
  public EthernetEncoder(MemorySegment memory) {
    this.memory = memory;
    this.roce = new FrameEncoder(memory);
  }

  @Override
  public int encode(Packet packet, int at) {
    if (!packet.plain) {
      return roce.encode(packet, at);
    }
    MemorySegment.copy(packet.payload(), 0, memory, at, packet.length);
    return packet.length;
  }
}
