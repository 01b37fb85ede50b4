package org.hghca.model.transport;

import org.hghca.wire.EthernetPort;

/**
 * The timer of a requester for the acknowledgement of what it has in flight. Three times matter:
 * when this is late and counts no longer as on its way to the peer, when it is repeated early, and
 * the time-out.
 */
final class AckTimer {
  /** What has happened when the timer has expired. */
  enum Expiry {
    /** Nothing: it runs on. */
    NONE,
    /** What is not acknowledged is to be repeated, as it may be lost. */
    EARLY,
    /** The peer has not answered in its time. */
    TIMEOUT
  }

  /** Time-outs that one is put off at most; the specification allows four in all. */
  private static final long MOST_LATE = 3;

  /** After so many nanoseconds it looks again whether an answer has come in time. */
  private static final long LOOK = 1_000_000;

  private final Schedule schedule;
  private final EthernetPort port;
  private final Endpoint endpoint;
  private final SendWindow window;
  private final EarlyRepeat early;

  /** When the acknowledgement is late, as far as the timer runs for one. */
  private long timeoutAt;

  /** When what is not acknowledged is repeated, at the latest then. */
  private long repeatAt;

  /** When it counts no longer as on its way to the peer. */
  private long lateAt;

  AckTimer(
      Schedule schedule,
      EthernetPort port,
      Endpoint endpoint,
      SendWindow window,
      EarlyRepeat early) {
    this.schedule = schedule;
    this.port = port;
    this.endpoint = endpoint;
    this.window = window;
    this.early = early;
  }

  /** The oldest packet that is not acknowledged has become another, or is sent again. */
  void start(int ackTimeout) {
    timeoutAt = ackTimeout == 0 ? Long.MAX_VALUE : schedule.now() + timeout(ackTimeout);
    runOn();
  }

  private static long timeout(int code) {
    return 4096L << code;
  }

  /** It has repeated early, and runs on to the same time-out. */
  void runOn() {
    long now = schedule.now();
    repeatAt =
        timeoutAt == Long.MAX_VALUE ? timeoutAt : Math.min(timeoutAt, after(now, early.delay()));
    lateAt = after(now, early.patience(window.load().roundTrip()));
    wake();
  }

  private static long after(long now, long delay) {
    return delay == Long.MAX_VALUE ? delay : now + delay;
  }

  private void wake() {
    long at = window.counts() ? Math.min(repeatAt, lateAt) : repeatAt;
    if (at == Long.MAX_VALUE) {
      schedule.cancelTimer(endpoint);
    } else {
      schedule.wakeAfter(endpoint, at - schedule.now());
    }
  }

  /** Its time has come. */
  Expiry expire(int ackTimeout) {
    long now = schedule.now();
    if (window.counts() && now >= lateAt) {
      window.late();
    }
    if (now < repeatAt) {
      wake();
      return Expiry.NONE;
    }
    if (now < timeoutAt) {
      return Expiry.EARLY;
    }
    if (mayBeAnswered(now, ackTimeout)) {
      schedule.wakeAfter(endpoint, LOOK);
      return Expiry.NONE;
    }
    return Expiry.TIMEOUT;
  }

  /** Whether the answer may have come in time, and wait for its turn behind others. */
  private boolean mayBeAnswered(long now, int ackTimeout) {
    return early.isWanted()
        && now < timeoutAt + MOST_LATE * timeout(ackTimeout)
        && !port.hasFetched(timeoutAt);
  }
}
