package org.hghca.model.hca;

import java.util.Arrays;

/**
 * The card's on-chip state of a queue pair's work queues: the announced sends, and the next
 * position in the receive queue. Used by one thread.
 */
final class QueuePositions {
  /**
   * The maximum number of waiting doorbells of a queue pair; the queue has at least that many
   * entries.
   */
  private static final int MAX_DOORBELLS = 1 << 16;

  private final int qpn;
  private long[] doorbells = new long[16];
  private int head;
  private int tail;

  /** Where the queues are. */
  final QueueMemory sends = new QueueMemory();

  final QueueMemory receives = new QueueMemory();

  /** The slots of the receive queue, of the length and size that its context says. */
  final PlacedRing slots = new PlacedRing();

  /** The send that is read next: byte offset, units of 16 bytes (0: none), opcode, fence. */
  int sendOffset;

  int sendUnits;
  int sendOpcode;
  boolean sendFence;

  /** Sends that the chain of the current doorbell may still hold. */
  int chainLeft;

  /** Byte offset of the receive slot that is read next. */
  int receiveOffset;

  private QueuePositions(int qpn) {
    this.qpn = qpn;
  }

  /**
   * Keeps a doorbell.
   *
   * @return false when too many wait
   */
  boolean announce(long doorbell) {
    if (tail - head == doorbells.length) {
      if (doorbells.length == MAX_DOORBELLS) {
        return false;
      }
      int count = tail - head;
      long[] larger = new long[2 * doorbells.length];
      for (int i = 0; i < count; i++) {
        larger[i] = doorbells[head + i & doorbells.length - 1];
      }
      doorbells = larger;
      head = 0;
      tail = count;
    }
    doorbells[tail++ & doorbells.length - 1] = doorbell;
    return true;
  }

  boolean hasDoorbell() {
    return head != tail;
  }

  long takeDoorbell() {
    return doorbells[head++ & doorbells.length - 1];
  }

  /** Positions by queue pair number, created on first use. */
  static final class Table {
    private QueuePositions[] table = new QueuePositions[64];

    /** Those that were asked for last, or null. */
    private QueuePositions last;

    QueuePositions of(int qpn) {
      QueuePositions found = last;
      if (found == null || found.qpn != qpn) {
        found = find(qpn);
        last = found;
      }
      return found;
    }

    private QueuePositions find(int qpn) {
      if (qpn >= table.length) {
        table = Arrays.copyOf(table, Math.max(qpn + 1, 2 * table.length));
      }
      if (table[qpn] == null) {
        table[qpn] = new QueuePositions(qpn);
      }
      return table[qpn];
    }

    void forget(int qpn) {
      last = null;
      if (qpn < table.length) {
        table[qpn] = null;
      }
    }

    void forgetAll() {
      last = null;
      Arrays.fill(table, null);
    }
  }
}
