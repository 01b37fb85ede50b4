package org.hghca.model.transport;

import org.hghca.wire.PacketOpcode;

/** The operation of a send work request. */
public enum SendOperation {
  SEND(
      PacketOpcode.SEND_FIRST,
      PacketOpcode.SEND_MIDDLE,
      PacketOpcode.SEND_LAST,
      PacketOpcode.SEND_ONLY,
      false,
      false),
  SEND_IMM(
      PacketOpcode.SEND_FIRST,
      PacketOpcode.SEND_MIDDLE,
      PacketOpcode.SEND_LAST_IMM,
      PacketOpcode.SEND_ONLY_IMM,
      false,
      false),
  WRITE(
      PacketOpcode.WRITE_FIRST,
      PacketOpcode.WRITE_MIDDLE,
      PacketOpcode.WRITE_LAST,
      PacketOpcode.WRITE_ONLY,
      true,
      false),
  WRITE_IMM(
      PacketOpcode.WRITE_FIRST,
      PacketOpcode.WRITE_MIDDLE,
      PacketOpcode.WRITE_LAST_IMM,
      PacketOpcode.WRITE_ONLY_IMM,
      true,
      false),
  READ(
      PacketOpcode.READ_REQUEST,
      PacketOpcode.READ_REQUEST,
      PacketOpcode.READ_REQUEST,
      PacketOpcode.READ_REQUEST,
      true,
      true),
  COMPARE_SWAP(
      PacketOpcode.COMPARE_SWAP,
      PacketOpcode.COMPARE_SWAP,
      PacketOpcode.COMPARE_SWAP,
      PacketOpcode.COMPARE_SWAP,
      true,
      true),
  FETCH_ADD(
      PacketOpcode.FETCH_ADD,
      PacketOpcode.FETCH_ADD,
      PacketOpcode.FETCH_ADD,
      PacketOpcode.FETCH_ADD,
      true,
      true);

  private final int first;
  private final int middle;
  private final int last;
  private final int only;
  private final boolean remoteMemory;
  private final boolean answeredWithData;

  SendOperation(
      int first, int middle, int last, int only, boolean remoteMemory, boolean answeredWithData) {
    this.first = first;
    this.middle = middle;
    this.last = last;
    this.only = only;
    this.remoteMemory = remoteMemory;
    this.answeredWithData = answeredWithData;
  }

  /** Whether the request names memory of the responder. */
  public boolean usesRemoteMemory() {
    return remoteMemory;
  }

  /** Whether the responder answers with data, for which the request names local memory. */
  public boolean isAnsweredWithData() {
    return answeredWithData;
  }

  /** Whether the last packet carries immediate data. */
  boolean hasImmediate() {
    return this == SEND_IMM || this == WRITE_IMM;
  }

  public boolean isAtomic() {
    return this == COMPARE_SWAP || this == FETCH_ADD;
  }

  /** The operation of a packet by its place in the message. */
  int packetOperation(boolean isFirst, boolean isLast) {
    if (isFirst) {
      return isLast ? only : first;
    }
    return isLast ? last : middle;
  }
}
