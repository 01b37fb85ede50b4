package org.hghca.wire;

/**
 * Consecutive packets of one message, at least two, that pass at once: from one port into what is
 * behind another, without a packet being made. All packets but the last are full. The payload stays
 * where the sender has it, and is read before the call that passes the run returns. Used by one
 * thread.
 */
public final class PacketRun {
  private static final int PSN_MASK = 0xff_ffff;

  /** What became of a run that has come. */
  public enum Outcome {
    /** It was executed. */
    TAKEN,
    /** Nothing was done: its packets must come one by one. */
    REFUSED,
    /** What came before it must be done first: it must come again. */
    LATER
  }

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

  /**
   * Makes one of its packets, with its payload.
   *
   * @param index from 0 to below {@link #packets}
   * @param into an empty packet
   */
  public void unfold(int index, Packet into) {
    boolean isLast = index == packets - 1;
    int at = index * mtu;
    int size = Math.min(mtu, bytes - at);
    into.copyHeadersFrom(first);
    into.length = size;
    payload.copyTo(at, into.payload(), size);
    into.psn = first.psn + index & PSN_MASK;
    into.solicited = isLast && first.solicited;
    into.ackRequest = isLast && first.ackRequest;
    if (index > 0) {
      int operation = first.opcode & PacketOpcode.OPERATION_MASK;
      into.opcode =
          first.opcode & PacketOpcode.SERVICE_MASK
              | (isLast ? lastOperation : PacketOpcode.middle(operation));
    }
  }

  /** Makes it a run without addresses and payload, as {@link PacketPool#take} makes a packet. */
  public void clear() {
    first.clear();
    payload.clear();
  }
}
