package org.hghca.wire;

import java.util.List;

/**
 * The operation codes of the base transport header (InfiniBand specification, volume 1, 9.2.1):
 * bits 7:5 are the service, bits 4:0 the operation. An opcode is the bits of a service and an
 * operation together; the reliable connection has all operations, the unreliable one SENDs and RDMA
 * WRITEs, datagrams have SENDs of one packet.
 */
public final class PacketOpcode {
  /** Service bits of the reliable connection. */
  public static final int RC = 0x00;

  /** Service bits of the unreliable connection. */
  public static final int UC = 0x20;

  /** Service bits of the unreliable datagram. */
  public static final int UD = 0x60;

  /** The whole opcode of a congestion notification, which belongs to no service and has no PSN. */
  public static final int CONGESTION_NOTIFICATION = 0x81;

  /** The bits that name the service. */
  public static final int SERVICE_MASK = 0xe0;

  /** The bits that name the operation. */
  public static final int OPERATION_MASK = 0x1f;

  public static final int SEND_FIRST = 0x00;
  public static final int SEND_MIDDLE = 0x01;
  public static final int SEND_LAST = 0x02;
  public static final int SEND_LAST_IMM = 0x03;
  public static final int SEND_ONLY = 0x04;
  public static final int SEND_ONLY_IMM = 0x05;
  public static final int WRITE_FIRST = 0x06;
  public static final int WRITE_MIDDLE = 0x07;
  public static final int WRITE_LAST = 0x08;
  public static final int WRITE_LAST_IMM = 0x09;
  public static final int WRITE_ONLY = 0x0a;
  public static final int WRITE_ONLY_IMM = 0x0b;
  public static final int READ_REQUEST = 0x0c;
  public static final int READ_RESPONSE_FIRST = 0x0d;
  public static final int READ_RESPONSE_MIDDLE = 0x0e;
  public static final int READ_RESPONSE_LAST = 0x0f;
  public static final int READ_RESPONSE_ONLY = 0x10;
  public static final int ACKNOWLEDGE = 0x11;
  public static final int ATOMIC_ACKNOWLEDGE = 0x12;
  public static final int COMPARE_SWAP = 0x13;
  public static final int FETCH_ADD = 0x14;
  public static final int SEND_LAST_INVALIDATE = 0x16;
  public static final int SEND_ONLY_INVALIDATE = 0x17;

  /** Of each operation, in the order of their numbers; 15h is reserved. */
  private static final List<String> NAMES =
      List.of(
          "SEND_FIRST",
          "SEND_MIDDLE",
          "SEND_LAST",
          "SEND_LAST_IMM",
          "SEND_ONLY",
          "SEND_ONLY_IMM",
          "WRITE_FIRST",
          "WRITE_MIDDLE",
          "WRITE_LAST",
          "WRITE_LAST_IMM",
          "WRITE_ONLY",
          "WRITE_ONLY_IMM",
          "READ_REQUEST",
          "READ_RESPONSE_FIRST",
          "READ_RESPONSE_MIDDLE",
          "READ_RESPONSE_LAST",
          "READ_RESPONSE_ONLY",
          "ACKNOWLEDGE",
          "ATOMIC_ACKNOWLEDGE",
          "COMPARE_SWAP",
          "FETCH_ADD",
          "RESERVED",
          "SEND_LAST_INVALIDATE",
          "SEND_ONLY_INVALIDATE");

  private PacketOpcode() {}

  /**
   * The name of an opcode: service and operation, such as {@code RC_SEND_ONLY}, or {@code CNP}; for
   * one that is not known its number.
   */
  public static String text(int opcode) {
    if (opcode == CONGESTION_NOTIFICATION) {
      return "CNP";
    }
    int operation = opcode & OPERATION_MASK;
    String service =
        switch (opcode & SERVICE_MASK) {
          case RC -> "RC_";
          case UC -> "UC_";
          case UD -> "UD_";
          default -> "";
        };
    return service.isEmpty() || operation >= NAMES.size()
        ? "0x%02x".formatted(opcode)
        : service + NAMES.get(operation);
  }

  /** Whether a packet goes from responder to requester. */
  public static boolean isResponse(int operation) {
    return operation >= READ_RESPONSE_FIRST && operation <= ATOMIC_ACKNOWLEDGE;
  }

  /** Whether a packet carries an immediate. */
  public static boolean hasImmediate(int operation) {
    return operation == SEND_LAST_IMM
        || operation == SEND_ONLY_IMM
        || operation == WRITE_LAST_IMM
        || operation == WRITE_ONLY_IMM;
  }

  /** Whether a packet is the first of its message, the only one included. */
  public static boolean starts(int operation) {
    return operation == SEND_FIRST
        || operation == SEND_ONLY
        || operation == SEND_ONLY_IMM
        || operation == WRITE_FIRST
        || operation == WRITE_ONLY
        || operation == WRITE_ONLY_IMM;
  }

  /** The operation of a packet that follows another one, and is not the last of its message. */
  static int middle(int operation) {
    return isSend(operation)
        ? SEND_MIDDLE
        : isWrite(operation) ? WRITE_MIDDLE : READ_RESPONSE_MIDDLE;
  }

  /** Whether a packet is the last of its message, the only one included. */
  public static boolean ends(int operation) {
    return operation >= SEND_LAST && operation <= SEND_ONLY_IMM
        || operation >= WRITE_LAST && operation <= WRITE_ONLY_IMM;
  }

  /** Whether a packet belongs to a SEND, with immediate or without. */
  public static boolean isSend(int operation) {
    return operation <= SEND_ONLY_IMM;
  }

  /** Whether a packet is the request of a compare-and-swap or fetch-and-add. */
  public static boolean isAtomic(int operation) {
    return operation == COMPARE_SWAP || operation == FETCH_ADD;
  }

  /** Whether a packet belongs to an RDMA WRITE, with immediate or without. */
  public static boolean isWrite(int operation) {
    return operation >= WRITE_FIRST && operation <= WRITE_ONLY_IMM;
  }

  /** Whether a packet ends a SEND that invalidates a memory key of the receiver. */
  public static boolean invalidates(int operation) {
    return operation == SEND_LAST_INVALIDATE || operation == SEND_ONLY_INVALIDATE;
  }
}
