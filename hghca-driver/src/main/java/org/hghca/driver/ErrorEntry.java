package org.hghca.driver;

import static org.hghca.abi.QueuePairContext.STATE;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.mailbox.CommandInterface;
import org.hghca.verbs.QpType;
import org.hghca.vfio.TimeScale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the RTL follow a queue pair into ERR, by our own state, without losing its place there and
 * not in the middle of a message. Under the queue pair's monitor.
 */
final class ErrorEntry {
  private static final Logger LOG = LoggerFactory.getLogger(ErrorEntry.class);

  /** Between two looks whether a queue pair that is to end is quiet. */
  private static final long QUIET_STEP_NANOS = 100_000;

  /** How long the card may take to flush. */
  private static final long FLUSH_NANOS = 20_000_000;

  private static final long FLUSH_STEP_NANOS = 20_000;

  private final RecoveredQueuePair qp;
  private final ProgrammedContext context;
  private final SoftwareFlush flush;
  private final NumberReuse reuse;
  private final PsnWatch psns;
  private final SendTimeout timeout;
  private final DeviceRecovery device;
  private final HardwareProfile profile;
  private final CommandInterface commands;
  private final TimeScale time;

  /** Whether the card got ERR. */
  private boolean followed;

  /** Whether it is to flush, and there was no doorbell left to tell it. */
  private boolean flushPending;

  ErrorEntry(
      RecoveredQueuePair qp,
      ProgrammedContext context,
      SoftwareFlush flush,
      NumberReuse reuse,
      PsnWatch psns,
      SendTimeout timeout,
      DeviceRecovery device) {
    this.qp = qp;
    this.context = context;
    this.flush = flush;
    this.reuse = reuse;
    this.psns = psns;
    this.timeout = timeout;
    this.device = device;
    this.profile = device.card().limits().profile();
    this.commands = device.card().commands();
    this.time = device.card().time();
  }

  /** The queue pair is in RESET again. */
  void reset() {
    followed = false;
    flushPending = false;
  }

  /**
   * The queue pair is in ERR by our own state: has the card follow as soon as no packet of it is in
   * the air, or when that was waited for long enough. Others may have the monitor meanwhile.
   */
  void follow() {
    long start = time.nanoTime();
    boolean interrupted = false;
    for (long now = start; !follow(now, now - start); now = time.nanoTime()) {
      try {
        TimeUnit.NANOSECONDS.timedWait(qp, QUIET_STEP_NANOS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * As {@link #follow()}, without waiting. What is stuck on the card it flushes when a doorbell
   * comes in ERR; all else is flushed by us.
   *
   * @param now nanoseconds of a clock of the card's time
   * @param waited how long it was waited for already
   * @return whether the card has followed
   */
  boolean follow(long now, long waited) {
    if (followed) {
      return true;
    }
    // Also where the queue pair is being closed: a doorbell that comes when the card is in RST
    // would have it send.
    flush.stopRinging();
    // The second RTL looks at no state, and what its context says of sequence numbers is unknown.
    if (profile.errorCqes()) {
      if (!isQuiet(now)) {
        if (waited < timeout.patienceNanos()) {
          return false;
        }
        device.counts().countEndUnderTraffic();
        LOG.warn(
            "{} goes to ERR while it sends, which can stop the card: it was not quiet for {} ms",
            qp.describe(),
            waited / 1_000_000);
      }
      tellCard();
    }
    followed = true;
    timeout.end();
    flush.endReceives();
    qp.sendCompletionQueue().addFlushing(flush);
    qp.receiveCompletionQueue().addFlushing(flush);
    device.maintenance().wake();
    return true;
  }

  /**
   * Whether nothing of its sends is in the air: all are complete, or the card is in ERR by itself,
   * or all packets have left and nothing has come back for a while.
   */
  private boolean isQuiet(long now) {
    if (unfinished() == 0) {
      return true;
    }
    if (qp.type() != QpType.RC) {
      return false; // complete when their packets have left
    }
    boolean rests = psns.rests(now);
    return psns.wasInError() || rests && psns.hadSentAll();
  }

  /** How many sends have been rung and are not complete. */
  private int unfinished() {
    return qp.sendCompletionQueue().outstandingWork(qp.rings()).unfinished();
  }

  private void tellCard() {
    LivePsns live = psns.atRest();
    // Already there by itself, or perhaps: it met a message without a receive, or an error.
    if (reuse.hasLived() && (live.state() == QpcState.ERR || live.state() == LivePsns.UNKNOWN)) {
      reuse.markPositionUnknown();
    }
    QueuePairContext next = context.last().copy().set(STATE, QpcState.ERR);
    live.putInto(next);
    context.program(QpContexts.state(context.last()), next);
    // One more command: the card has carried the last one out before it begins with this, and what
    // was in flight then has ended when this ends.
    commands.queryQp(qp.number());
    flushPending = qp.type() == QpType.RC && unfinished() > 0;
    ringPendingFlush();
  }

  /** Has the card flush, when there was no doorbell left to tell it before. */
  void ringPendingFlush() {
    flushPending = flushPending && !flush.ring();
  }

  /** Waits for the card to flush what it has; returns whether it did. */
  boolean awaitFlush() {
    follow();
    long start = time.nanoTime();
    while (unfinished() > 0) {
      if (time.nanoTime() - start > FLUSH_NANOS || device.card().health().isDead()) {
        return false;
      }
      ringPendingFlush();
      LockSupport.parkNanos(FLUSH_STEP_NANOS);
    }
    return true;
  }
}
