package org.hghca.model.transport;

import org.hghca.wire.PacketOpcode;

/** The operation of a send work request. */
public enum SendOperation {
  SEND(
      PacketOpcode.SEND_FIRST,
      PacketOpcode.SEND_MIDDLE,
      PacketOpcode.SEND_LAST,
      PacketOpcode.SEND_ONLY,
      false),
  SEND_IMM(
      PacketOpcode.SEND_FIRST,
      PacketOpcode.SEND_MIDDLE,
      PacketOpcode.SEND_LAST_IMM,
      PacketOpcode.SEND_ONLY_IMM,
      false),
  WRITE(
      PacketOpcode.WRITE_FIRST,
      PacketOpcode.WRITE_MIDDLE,
      PacketOpcode.WRITE_LAST,
      PacketOpcode.WRITE_ONLY,
      true),
  WRITE_IMM(
      PacketOpcode.WRITE_FIRST,
      PacketOpcode.WRITE_MIDDLE,
      PacketOpcode.WRITE_LAST_IMM,
      PacketOpcode.WRITE_ONLY_IMM,
      true),
  READ(PacketOpcode.READ_REQUEST),
  COMPARE_SWAP(PacketOpcode.COMPARE_SWAP),
  FETCH_ADD(PacketOpcode.FETCH_ADD);

  private final int first;
  private final int middle;
  private final int last;
  private final int only;
  private final boolean remoteMemory;
  private final boolean answeredWithData;

  /** One whose packets carry its data. */
  SendOperation(int first, int middle, int last, int only, boolean remoteMemory) {
    this.first = first;
    this.middle = middle;
    this.last = last;
    this.only = only;
    this.remoteMemory = remoteMemory;
    this.answeredWithData = false;
  }

  /** One whose packets ask for data. */
  SendOperation(int request) {
    this.first = request;
    this.middle = request;
    this.last = request;
    this.only = request;
    this.remoteMemory = true;
    this.answeredWithData = true;
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
