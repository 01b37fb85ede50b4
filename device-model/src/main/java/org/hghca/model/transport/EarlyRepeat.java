package org.hghca.model.transport;

/**
 * When a requester repeats what is not acknowledged although nothing tells that it was lost: long
 * before the time-out, which is for peers that are gone. The last packet of a burst, a NAK, or a
 * packet that was repeated for one, may be lost, and no other packet shows it. Peers recognize
 * duplicates; a wrong guess costs the window again, and halves it. Uses no retries.
 *
 * <p>Only packets that are sent once are timed, and each repeat doubles the delay until the next of
 * these is acknowledged (Karn's algorithm, as in RFC 6298): a peer that has become slower than the
 * delay is measured again, and no longer repeated to.
 */
final class EarlyRepeat {
  /** The least delay in nanoseconds: a peer's thread may have to wait for a processor. */
  static final long LEAST = 4_000_000;

  /** Round trips of the least delay. */
  private static final int ROUND_TRIPS = 4;

  private static final int MOST_DOUBLINGS = 10;

  private final boolean wanted;

  /** The smoothed round trip in nanoseconds; 0 while none is known. */
  private long roundTrip;

  /** The packet whose acknowledgement is timed, and when it was sent. */
  private int timedPsn;

  private long timedAt;
  private boolean times;

  /** Repeats since the last measurement. */
  private int doublings;

  /**
   * @param wanted whether the medium loses packets
   */
  EarlyRepeat(boolean wanted) {
    this.wanted = wanted;
  }

  /** Whether the medium loses packets. */
  boolean isWanted() {
    return wanted;
  }

  void reset() {
    roundTrip = 0;
    times = false;
    doublings = 0;
  }

  /** A packet that asks for an acknowledgement is sent for the first time. */
  void sent(int psn, long now) {
    if (wanted && !times) {
      times = true;
      timedPsn = psn;
      timedAt = now;
    }
  }

  /**
   * Packets are acknowledged.
   *
   * @param next the oldest that is not
   * @param load gets what was measured, too
   */
  void progress(int next, long now, PeerLoad load) {
    if (times && Psn.compare(timedPsn, next) < 0) {
      times = false;
      doublings = 0;
      long took = Math.max(1, now - timedAt);
      roundTrip = PeerLoad.smooth(roundTrip, took);
      load.measured(took);
    }
  }

  /** What is not acknowledged is sent again: an acknowledgement may be for either. */
  void rewound() {
    times = false;
  }

  /** The delay has passed and packets are repeated: the next one is twice as long. */
  void repeated() {
    doublings = Math.min(doublings + 1, MOST_DOUBLINGS);
  }

  /** Nanoseconds without progress after which to repeat, {@code Long.MAX_VALUE}: not at all. */
  long delay() {
    return roundTrip == 0 ? Long.MAX_VALUE : usual(roundTrip) << doublings;
  }

  /**
   * Nanoseconds after which an acknowledgement is late, {@code Long.MAX_VALUE} where nothing is
   * known.
   *
   * @param ofOthers the round trip of other connections to the same address, 0 for none
   */
  long patience(long ofOthers) {
    long known = roundTrip == 0 ? ofOthers : roundTrip;
    return known == 0 ? Long.MAX_VALUE : usual(known);
  }

  private static long usual(long known) {
    return Math.max(LEAST, ROUND_TRIPS * known);
  }
}
