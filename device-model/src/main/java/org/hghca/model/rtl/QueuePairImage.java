package org.hghca.model.rtl;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.hghca.abi.QueuePairContext;
import org.hghca.model.card.HostMemory;

/**
 * The image of a queue pair's context in interconnect context memory. Traffic writes the state and
 * three packet sequence numbers back into it at the offsets that they have in the mailbox, but the
 * image is reversed in groups of 32 bytes: QUERY_QP returns them in other fields.
 */
final class QueuePairImage {
  static final ValueLayout.OfInt LITTLE_ENDIAN =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final int SIZE = 192;

  // Offsets in an image of the fields that traffic changes.
  private static final int STATE = 0x08;
  private static final int NEXT_SEND_PSN = 0x6c;
  private static final int OLDEST_UNACKED_PSN = 0x7c;
  private static final int EXPECTED_PSN = 0x84;

  private final HostMemory host;
  private final MemorySegment image = Arena.ofAuto().allocate(SIZE, 64);

  QueuePairImage(HostMemory host) {
    this.host = host;
  }

  /** Writes the image of a mailbox. */
  void store(MemorySegment mailbox, long at, int length) {
    MemorySegment.copy(mailbox, 0, image, 0, SIZE);
    Beats.reverse(image, SIZE);
    host.write(at, image, 0, length);
  }

  /**
   * Reads a context for QUERY_QP.
   *
   * @return false when its page is not mapped and the command never completes
   */
  boolean query(OnChipQp queuePair, long at, MemorySegment mailbox) {
    if (at == IcmTableMap.NONE) {
      return false;
    }
    image.fill((byte) 0);
    host.read(at, image, 0, SIZE);
    if (queuePair.hasMoved()) {
      writeBack(queuePair);
      host.write(at, image, 0, SIZE);
    }
    MemorySegment.copy(image, 0, mailbox, 0, SIZE);
    Beats.reverse(mailbox, SIZE);
    return true;
  }

  /**
   * The answer of the second RTL: some of the fields, the dwords of the context in reverse order,
   * and no usable data.
   */
  void part(OnChipQp queuePair, MemorySegment mailbox) {
    QueuePairContext.LAYOUT.clear(image);
    QueuePairContext.STATE.set(image, queuePair.state);
    QueuePairContext.SERVICE_TYPE.set(image, queuePair.service);
    QueuePairContext.REMOTE_QPN.set(image, queuePair.remoteQpn);
    QueuePairContext.PD.set(image, queuePair.pd);
    QueuePairContext.NEXT_SEND_PSN.set(image, queuePair.nextSendPsn);
    for (int at = 0; at < SIZE; at += Integer.BYTES) {
      mailbox.set(LITTLE_ENDIAN, SIZE - Integer.BYTES - at, image.get(LITTLE_ENDIAN, at));
    }
  }

  /** Writes all fields that traffic changes into an image. */
  void writeBack(OnChipQp queuePair, long at) {
    host.read(at, image, 0, SIZE);
    image.set(ValueLayout.JAVA_BYTE, STATE, (byte) (queuePair.state << 4));
    image.set(LITTLE_ENDIAN, NEXT_SEND_PSN, queuePair.nextSendPsn);
    image.set(LITTLE_ENDIAN, OLDEST_UNACKED_PSN, queuePair.oldestUnackedPsn);
    image.set(LITTLE_ENDIAN, EXPECTED_PSN, queuePair.expectedPsn);
    host.write(at, image, 0, SIZE);
  }

  /** The changed fields, at the offsets where the card writes them: see the class. */
  private void writeBack(OnChipQp queuePair) {
    image.set(ValueLayout.JAVA_BYTE, STATE, (byte) (queuePair.state << 4));
    if (queuePair.hasSent()) {
      image.set(LITTLE_ENDIAN, NEXT_SEND_PSN, queuePair.nextSendPsn);
    }
    if (queuePair.isAcknowledged()) {
      image.set(LITTLE_ENDIAN, OLDEST_UNACKED_PSN, queuePair.oldestUnackedPsn);
    }
    if (queuePair.hasReceived()) {
      image.set(LITTLE_ENDIAN, EXPECTED_PSN, queuePair.expectedPsn);
    }
  }
}
