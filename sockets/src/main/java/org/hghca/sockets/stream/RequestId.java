package org.hghca.sockets.stream;

/**
 * The {@code wr_id} of a stream's requests:
 *
 * <pre>
 *  63  62       48  47                               0
 *  +---+-----------+----------------------------------+
 *  | R | stream    | SendWindow.stamp, or receive     |
 *  +---+-----------+----------------------------------+
 * </pre>
 *
 * R is set for a receive.
 */
final class RequestId {
  private static final int SLOT_SHIFT = 48;
  private static final int SLOT_MASK = 0x7fff;
  private static final long STAMP_MASK = (1L << SLOT_SHIFT) - 1;

  private RequestId() {}

  static long receive(int slot, int number) {
    return Long.MIN_VALUE | (long) slot << SLOT_SHIFT | number;
  }

  static long send(int slot, long stamp) {
    return (long) slot << SLOT_SHIFT | stamp;
  }

  static boolean isReceive(long id) {
    return id < 0;
  }

  static int slot(long id) {
    return (int) (id >>> SLOT_SHIFT) & SLOT_MASK;
  }

  /** Which of the stream's receives it is. */
  static int receive(long id) {
    return (int) (id & STAMP_MASK);
  }

  static long stamp(long id) {
    return id & STAMP_MASK;
  }
}
