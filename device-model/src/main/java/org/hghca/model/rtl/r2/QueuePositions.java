package org.hghca.model.rtl.r2;

import org.hghca.model.rtl.ConnectionState;

/**
 * The positions of a queue pair of the second RTL in its queues; it tracks them itself and ignores
 * those in doorbells.
 */
final class QueuePositions {
  final ConnectionState connection;

  /** Byte offsets of the next WQEs. */
  int sendOffset;

  int receiveOffset;

  /** The position in the newest doorbell, and whether the card has reached it. */
  int head;

  boolean hasReachedHead;

  /** Whether there is more work: up to the head, and from there to the end of the chain. */
  boolean isRung;

  private int life;

  QueuePositions(ConnectionState connection) {
    this.connection = connection;
    this.life = connection.qp.lives();
  }

  /** It is not known whether a queue pair that was in RESET starts again. */
  void lookForReset(Unknowns unknowns) {
    if (life != connection.qp.lives()) {
      life = connection.qp.lives();
      if ((unknowns.at(connection.qp.qpn, life) & 1) != 0) {
        sendOffset = 0;
        receiveOffset = 0;
      }
    }
  }
}
