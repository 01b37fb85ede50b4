package org.hghca.model.rtl;

/** A message that a reliable connection has started to send and that is not acknowledged. */
final class Message {
  int opcode;

  /** The queue pair's number as the doorbell had it. */
  int qpn;

  /** Byte offset of its WQE in the send queue. */
  int wqeOffset;

  /** It was never sent; its error waits in order. */
  boolean failed;

  /** The step of the card in which it was entered, and whether that corrupts the list. */
  long step;

  boolean raced;

  /** Data units that its payload is fetched from; 0 for a READ, which has none. */
  int pieces;

  long length;
  int firstPsn;

  /** Of its last packet; of an RDMA READ of the last packet of the response. */
  int lastPsn;

  /** Of the packet of a response that is next. */
  int responsePsn;

  /** Where the response of an RDMA READ goes; empty for others. */
  final SgeList results = new SgeList();
}
