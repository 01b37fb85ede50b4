package org.hghca.model.transport;

/**
 * The rate of a queue pair whose peer reports congestion: DCQCN (Zhu et al., "Congestion Control
 * for Large-Scale RDMA Deployments", SIGCOMM 2015), recovering by time alone.
 *
 * <p>A notification cuts the rate by alpha/2 and lets alpha approach 1; 55 us without one let it
 * approach 0. Each 1.5 ms without a cut bring the rate half of the way to the target, which is the
 * rate before the cut; after five of them the target grows, at first slowly, then faster. At the
 * full rate the limit ends. Before the first notification, and after that, it costs nothing.
 *
 * <p>Rates are in bytes a second, times in nanoseconds, alpha in 1/65536. Queries update the state,
 * which therefore depends only on times, not on when steps are done.
 */
final class RateLimit {
  /** 100 Gb/s, the fastest rate of the port. */
  static final long FULL = 12_500_000_000L;

  /** 10 Mb/s. */
  static final long LEAST = 1_250_000;

  /** At most one cut in this time, for any number of notifications. */
  static final long CUT_INTERVAL = 50_000;

  private static final long ALPHA_INTERVAL = 55_000;
  private static final int ALPHA_SHIFT = 8;
  private static final int ONE = 1 << 16;

  private static final long INCREASE_INTERVAL = 1_500_000;

  /** Increases that only approach the target. */
  private static final int RECOVERIES = 5;

  /** Increases of the target by 40 Mb/s that follow; then each is 400 Mb/s more than the last. */
  private static final int SLOW_INCREASES = 5;

  private static final long SLOW_INCREASE = 5_000_000;
  private static final long FAST_INCREASE = 50_000_000;

  /** The burst that may be sent after a pause, as time. */
  private static final long CREDIT = 50_000;

  private boolean limited;
  private long rate;
  private long target;
  private int alpha;
  private long cutAt;
  private long alphaAt;
  private long increasedAt;
  private int increases;

  /** When everything sent so far has left at the rate. */
  private long paidAt;

  /** Whether there is a limit. */
  boolean isLimited() {
    return limited;
  }

  /** The rate at a time, {@link #FULL} without a limit. */
  long rate(long now) {
    update(now);
    return limited ? rate : FULL;
  }

  /** The peer reports congestion. */
  void notified(long now) {
    update(now);
    if (!limited) {
      limited = true;
      rate = FULL;
      alpha = ONE;
      paidAt = now - CREDIT;
    } else if (now - cutAt < CUT_INTERVAL) {
      return;
    }
    target = rate;
    rate = Math.max(LEAST, rate - (rate * alpha >> 17));
    alpha += ONE - alpha >> ALPHA_SHIFT;
    cutAt = now;
    alphaAt = now;
    increasedAt = now;
    increases = 0;
  }

  /** The time to wait until something may be sent, 0 for none. Ends a limit that has recovered. */
  long delay(long now) {
    update(now);
    return limited ? Math.max(0, paidAt - now) : 0;
  }

  /** So many bytes are sent. */
  void sent(long bytes, long now) {
    if (limited) {
      paidAt = Math.max(paidAt, now - CREDIT) + bytes * 1_000_000_000L / rate;
    }
  }

  private void update(long now) {
    if (!limited) {
      return;
    }
    while (alpha > 0 && now - alphaAt >= ALPHA_INTERVAL) {
      alpha -= Math.max(1, alpha >> ALPHA_SHIFT);
      alphaAt += ALPHA_INTERVAL;
    }
    if (alpha == 0) {
      alphaAt = now;
    }
    while (limited && now - increasedAt >= INCREASE_INTERVAL) {
      increasedAt += INCREASE_INTERVAL;
      increase();
    }
  }

  private void increase() {
    int beyond = ++increases - RECOVERIES;
    if (beyond > SLOW_INCREASES) {
      target += FAST_INCREASE * (beyond - SLOW_INCREASES);
    } else if (beyond > 0) {
      target += SLOW_INCREASE;
    }
    target = Math.min(FULL, target);
    rate = (rate + target) / 2;
    limited = FULL - rate > FULL >> 10;
  }
}
