package org.hghca.driver.rtl.recovery;

import static org.hghca.abi.QueuePairContext.STATE;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.driver.state.ProgrammedContext;
import org.hghca.driver.state.QpContexts;
import org.hghca.driver.transition.DriverQueuePair;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.mailbox.CommandInterface;
import org.hghca.verbs.QpType;
import org.hghca.vfio.TimeScale;

/**
 * Moves the RTL card's queue pair to ERR after the driver's state, without losing its ring position
 * and not during a message. Under the queue pair's monitor.
 */
public final class ErrorEntry {
  private static final ConditionLog LOG = ConditionLog.of(ErrorEntry.class);

  /** The interval between two checks whether a queue pair that is ending is idle. */
  private static final long QUIET_STEP_NANOS = 100_000;

  /** How long the card may take to flush. */
  private static final long FLUSH_NANOS = 20_000_000;

  private static final long FLUSH_STEP_NANOS = 20_000;

  private final DriverQueuePair qp;
  private final QueuePairWork work;
  private final ProgrammedContext context;
  private final FlushBySoftware flush;
  private final NumberReuse reuse;
  private final PsnWatch psns;
  private final SendTimeout timeout;
  private final DeviceRecovery device;
  private final HardwareProfile profile;
  private final CommandInterface commands;
  private final TimeScale time;

  /** Whether the card got ERR. */
  private boolean followed;

  /** Whether it must flush, but there was no doorbell left to start it. */
  private boolean flushPending;

  ErrorEntry(
      DriverQueuePair qp,
      QueuePairWork work,
      ProgrammedContext context,
      FlushBySoftware flush,
      NumberReuse reuse,
      PsnWatch psns,
      SendTimeout timeout,
      DeviceRecovery device) {
    this.qp = qp;
    this.work = work;
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
   * The queue pair is in ERR in the driver: moves the card to ERR as soon as none of its packets is
   * in flight, or after a time limit. Others may have the monitor meanwhile.
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
   * As {@link #follow()}, without waiting. The card flushes stuck requests when a doorbell arrives
   * in ERR; the driver flushes all others.
   *
   * @param now nanoseconds of a clock of the card's time
   * @param waited the time already waited
   * @return whether the card has followed
   */
  boolean follow(long now, long waited) {
    if (followed) {
      return true;
    }
    // Also when the queue pair is being closed: a doorbell that arrives when the card is in RST
    // would make it send.
    flush.stopRinging();
    // The second RTL does not check the state, and the sequence numbers in its context are unknown.
    if (profile.errorCqes()) {
      if (!isQuiet(now)) {
        if (waited < timeout.patienceNanos()) {
          return false;
        }
        device.counts().countEndUnderTraffic();
        LOG.warn(
            About.device(device.card().function().locator()).qpn(qp.number()),
            "{} goes to ERR while it sends, which can stop the card: it was not quiet for {} ms",
            qp.describe(),
            waited / 1_000_000);
      }
      programError();
    }
    followed = true;
    timeout.end();
    flush.endReceives();
    qp.addFlushing();
    device.maintenance().wake();
    return true;
  }

  /**
   * Whether none of its sends is in flight: all are complete, or the card has gone to ERR itself,
   * or all packets have left and nothing has arrived for a while.
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

  /** Number of sends that have been rung and are not complete. */
  private int unfinished() {
    return work.ofSends().unfinished();
  }

  private void programError() {
    LivePsns live = psns.atRest();
    // Already, or possibly, in ERR: a message found no receive, or there was an error.
    if (reuse.hasLived() && (live.state() == QpcState.ERR || live.state() == LivePsns.UNKNOWN)) {
      reuse.markPositionUnknown();
    }
    QueuePairContext next = context.last().copy().set(STATE, QpcState.ERR);
    live.putInto(next);
    context.program(QpContexts.state(context.last()), next);
    // One more command: the card has executed the previous one before it starts this one, and
    // operations that were in flight have ended when this one ends.
    commands.queryQp(qp.number());
    flushPending = qp.type() == QpType.RC && unfinished() > 0;
    ringPendingFlush();
  }

  /** Makes the card flush, if there was no doorbell left before. */
  void ringPendingFlush() {
    flushPending = flushPending && !flush.ringFlush();
  }

  /** Waits until the card has flushed its requests; returns whether it did. */
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
