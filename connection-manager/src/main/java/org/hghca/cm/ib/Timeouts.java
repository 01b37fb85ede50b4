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

  /** The smallest code of a response time that a peer can name: 16 ms. */
  private static final int SHORTEST_RESPONSE = 12;

  /** The largest one: 8 s, twice that of Linux. */
  private static final int LONGEST_RESPONSE = 21;

  /** Until a reply without a confirmation is given up: twice the longest response time, 16.4 s. */
  static final long CONFIRMATION = 2 * nanos(LONGEST_RESPONSE);

  private Timeouts() {}

  /** The time of a code, as whole milliseconds: 2 to its power of 4.096 us, rounded down. */
  static long nanos(int code) {
    return TimeUnit.MILLISECONDS.toNanos(1L << Math.max(code - 8, 0));
  }

  /** Until a message is repeated to a peer, which names the time of its answer. */
  static long response(int code) {
    return nanos(Math.clamp(code, SHORTEST_RESPONSE, LONGEST_RESPONSE));
  }

  /**
   * Until a message is repeated to a peer that has asked for time by MRA.
   *
   * @param serviceTimeout the code of MRA, which counts up to {@link #SERVICE}
   * @param ackTimeout the code of the connection
   */
  static long service(int serviceTimeout, int ackTimeout) {
    return nanos(Math.min(serviceTimeout, SERVICE)) + timeWait(ackTimeout);
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
