package org.hghca.wire;

import java.util.Arrays;

/** Free packets. Grows to the maximum number of packets in flight; used by one thread. */
public final class PacketPool {
  private Packet[] free = new Packet[64];
  private int count;

  /**
   * A packet without IP addresses and payload: its flags are clear except {@link Packet#migrated},
   * and its network headers are those that most packets have.
   */
  public Packet take() {
    if (count == 0) {
      return new Packet();
    }
    Packet packet = free[--count];
    packet.clear();
    return packet;
  }

  /** A packet that is the same in every field and in the payload. */
  public Packet copy(Packet packet) {
    Packet copy = take();
    copy.copyFrom(packet);
    return copy;
  }

  public void giveBack(Packet packet) {
    if (count == free.length) {
      free = Arrays.copyOf(free, 2 * count);
    }
    free[count++] = packet;
  }
}
