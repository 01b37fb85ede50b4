package org.hghca.model.rtl;

import java.util.random.RandomGenerator;

/** Where a queue pair of the second RTL is in its queues; its own, whatever a doorbell says. */
final class R2QueuePositions {
  final ConnectionState connection;

  /** Byte offsets of the next WQEs. */
  int sendOffset;

  int receiveOffset;

  /** Where the newest doorbell points to, and whether the card has been there. */
  int head;

  boolean hasReachedHead;

  /** Whether there is more to do: up to the head, and from there to the end of the chain. */
  boolean isRung;

  private int life;

  R2QueuePositions(ConnectionState connection) {
    this.connection = connection;
    this.life = connection.qp.lives();
  }

  /** It is not known whether a queue pair that was in RESET starts again. */
  void lookForReset(RandomGenerator random) {
    if (life != connection.qp.lives()) {
      life = connection.qp.lives();
      if (random.nextBoolean()) {
        sendOffset = 0;
        receiveOffset = 0;
      }
    }
  }
}
