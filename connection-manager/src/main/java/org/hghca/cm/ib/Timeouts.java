package org.hghca.cm.ib;

import java.util.concurrent.TimeUnit;

/** The times of the protocol, as Linux has them. */
final class Timeouts {
  /** The code of the time in which each end answers the other: 4096 ms. */
  static final int RESPONSE = 20;

  /** How often a message without answer is repeated. */
  static final int RETRIES = 15;

  /** The code of the time for which an MRA asks: 65.5 s. */
  static final int SERVICE = 24;

  /**
   * The largest code of a local ACK timeout for which a time wait lasts: 8 s. What a peer names
   * beyond it, up to 2.3 hours, is no life of a packet in a network that works.
   */
  private static final int LONGEST_TIME_WAIT = 21;

  private Timeouts() {}

  /** The time of a code, as whole milliseconds: 2 to its power of 4.096 us, rounded down. */
  static long nanos(int code) {
    return TimeUnit.MILLISECONDS.toNanos(1L << Math.max(code - 8, 0));
  }

  /** Until a REQ is repeated: the way there and back, and the time of the peer. */
  static long request(int packetLife) {
    return 2 * nanos(packetLife) + nanos(RESPONSE);
  }

  /** The longest that a packet of a connection can be under way after its end. */
  static long timeWait(int ackTimeout) {
    return nanos(Math.min(ackTimeout, LONGEST_TIME_WAIT));
  }
}
