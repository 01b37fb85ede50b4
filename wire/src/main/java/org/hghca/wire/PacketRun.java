package org.hghca.wire;

/**
 * Consecutive packets of one message, at least two, that pass at once: from one port into what is
 * behind another, without a packet being made. All packets but the last are full. The payload stays
 * where the sender has it, and is read before the call that passes the run returns. Used by one
 * thread.
 */
public final class PacketRun {
  /**
   * The headers of the first packet. {@link Packet#ackRequest}, and {@link Packet#solicited}, say
   * whether one of the packets has it. Its length is not used.
   */
  public final Packet first = new Packet();

  /** The operation of the last packet. */
  public int lastOperation;

  /** Number of packets. */
  public int packets;

  /** Bytes of a full packet. */
  public int mtu;

  /** Bytes of payload of all packets. */
  public int bytes;

  /** The time of sending, in nanoseconds of the sender's clock. */
  public long sentAt;

  /** The payload. */
  public final MemoryPieces payload = new MemoryPieces();

  /** Makes it a run without addresses and payload, as {@link PacketPool#take} makes a packet. */
  public void clear() {
    first.clear();
    payload.clear();
  }
}
