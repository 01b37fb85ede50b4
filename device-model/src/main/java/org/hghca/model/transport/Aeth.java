package org.hghca.model.transport;

/**
 * Syndromes of the acknowledge header (InfiniBand specification, volume 1, 9.7.5.1): bits 6:5 the
 * kind, bits 4:0 its value.
 */
final class Aeth {
  /** Positive acknowledgement without end-to-end credits. */
  static final int ACK = 0x1f;

  /** Receiver not ready; the value is a timer code. */
  static final int RNR_NAK = 0x20;

  static final int NAK_SEQUENCE = 0x60;
  static final int NAK_INVALID_REQUEST = 0x61;
  static final int NAK_REMOTE_ACCESS = 0x62;
  static final int NAK_REMOTE_OPERATION = 0x63;

  private static final int KIND = 0x60;
  private static final int RESERVED = 0x40;

  private Aeth() {}

  static boolean isAck(int syndrome) {
    return (syndrome & KIND) == 0;
  }

  /** Whether a syndrome is of the kind without a meaning. */
  static boolean isReserved(int syndrome) {
    return (syndrome & KIND) == RESERVED;
  }

  static boolean isRnr(int syndrome) {
    return (syndrome & KIND) == RNR_NAK;
  }
}
