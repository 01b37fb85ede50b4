package org.hghca.model.transport;

import org.hghca.model.link.PacketOpcode;

/** What a send work request asks for. */
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
  READ(
      PacketOpcode.READ_REQUEST,
      PacketOpcode.READ_REQUEST,
      PacketOpcode.READ_REQUEST,
      PacketOpcode.READ_REQUEST,
      true);

  private final int first;
  private final int middle;
  private final int last;
  private final int only;
  private final boolean remoteMemory;

  SendOperation(int first, int middle, int last, int only, boolean remoteMemory) {
    this.first = first;
    this.middle = middle;
    this.last = last;
    this.only = only;
    this.remoteMemory = remoteMemory;
  }

  /** Whether the request names memory of the responder. */
  public boolean usesRemoteMemory() {
    return remoteMemory;
  }

  /** The operation of a packet by its place in the message. */
  int packetOperation(boolean isFirst, boolean isLast) {
    if (isFirst) {
      return isLast ? only : first;
    }
    return isLast ? last : middle;
  }
}
