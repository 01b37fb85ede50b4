package org.hghca.wire.shm;

import org.hghca.wire.Packet;
import org.hghca.wire.PacketRun;

/** Who takes what members have sent. */
public interface Receiver {
  /**
   * An empty packet to fill, which {@link #take(Packet)} takes.
   *
   * @return null where there is no room: the packet comes again with the next call
   */
  Packet packet();

  void take(Packet packet);

  /** Takes a run, whose payload is good during the call. */
  PacketRun.Outcome take(PacketRun run);
}
