package org.hghca.model.rtl;

/** A message that a reliable connection has started to send and that is not acknowledged. */
public final class Message {
  public int opcode;

  /** The queue pair's number as the doorbell had it. */
  public int qpn;

  /** Byte offset of its WQE in the send queue. */
  public int wqeOffset;

  /** It was never sent; its error waits in order. */
  public boolean failed;

  /** The step of the card in which it was entered, and whether that corrupts the list. */
  public long step;

  public boolean raced;

  /** Its place in the list of outstanding SENDs and WRITEs. */
  public int entry;

  /** Where a READ reads; it may be sent again. */
  public long remoteAddress;

  public int remoteKey;

  /** Whether it is a READ that was refused and sent again. */
  public boolean sentAgain;

  /** Data units that its payload is fetched from; 0 for a READ, which has none. */
  public int pieces;

  public long length;
  public int firstPsn;

  /** Of its last packet; of an RDMA READ of the last packet of the response. */
  public int lastPsn;

  /** Of the packet of a response that is next. */
  public int responsePsn;

  /**
   * The PSN whose acknowledgement completes a message of the first RTL: that of the last packet,
   * but none behind the last of all numbers.
   */
  public int completingPsn() {
    return lastPsn < firstPsn ? OnChipQp.PSN_MASK : lastPsn;
  }

  /** Where the response of an RDMA READ goes; empty for others. */
  public final SgeList results = new SgeList();
}
