package org.hghca.driver.rtl.recovery;

import static org.hghca.abi.QueuePairContext.ACK_TIMEOUT;
import static org.hghca.abi.QueuePairContext.DMAC_HIGH;
import static org.hghca.abi.QueuePairContext.DMAC_LOW;
import static org.hghca.abi.QueuePairContext.REMOTE_QPN;
import static org.hghca.abi.QueuePairContext.RETRY_COUNT;
import static org.hghca.abi.QueuePairContext.SMAC_HIGH;
import static org.hghca.abi.QueuePairContext.SMAC_LOW;

import org.hghca.abi.HardwareProfile;
import org.hghca.abi.QueuePairContext;
import org.hghca.driver.completion.QpTable;
import org.hghca.driver.transition.DriverQueuePair;
import org.hghca.provider.Health;
import org.hghca.verbs.QpType;

/**
 * Detects sends that a card without time-outs will not complete. Under the queue pair's monitor,
 * while {@link SoftwareMaintenance} checks.
 */
final class SendTimeout {
  private static final long TIME_OUT_UNIT_NANOS = 4096;

  /** The factor by which the wait for a possibly slow queue pair exceeds its time-out. */
  private static final int PATIENCE = 8;

  /** The time for a queue pair without a time-out to become idle: code 14, 8 times. */
  private static final long USUAL_TIME_OUT_NANOS = 8 * TIME_OUT_UNIT_NANOS << 14;

  /** How often to query the card for a queue pair without a time-out. */
  private static final long ASK_NANOS = 1_000_000_000;

  private final DriverQueuePair qp;
  private final QueuePairWork work;
  private final SendProgress progress;
  private final PsnWatch psns;
  private final HardwareProfile profile;
  private final int outstanding;
  private final SoftwareMaintenance maintenance;
  private final QpTable<? extends DriverQueuePair> queuePairs;
  private final Health health;

  /** The time since it has completed nothing, and since it does not wait for others. */
  private long since;

  private long alone;

  /** The result of a check. */
  enum Found {
    /** Nothing is outstanding. */
    IDLE,
    /** Another check is needed soon. */
    BUSY,
    /** The oldest send will not complete. */
    TIME_OUT
  }

  SendTimeout(
      DriverQueuePair qp,
      QueuePairWork work,
      SendProgress progress,
      PsnWatch psns,
      DeviceRecovery device) {
    this.qp = qp;
    this.work = work;
    this.progress = progress;
    this.psns = psns;
    this.profile = device.card().limits().profile();
    this.outstanding = device.card().limits().outstanding();
    this.maintenance = device.maintenance();
    this.queuePairs = device.queuePairs();
    this.health = device.card().health();
  }

  /** The card no longer completes outstanding sends. */
  void end() {
    progress.end();
  }

  /** The time since it has completed nothing. */
  long since() {
    return since;
  }

  /** How long a queue pair that is ending may take to become idle. */
  long patienceNanos() {
    return PATIENCE * nanos();
  }

  /** (retry_cnt + 1) times the acknowledgement time-out. */
  private long nanos() {
    int timeout = qp.programmed().get(ACK_TIMEOUT);
    return qp.type() != QpType.RC || timeout == 0
        ? USUAL_TIME_OUT_NANOS
        : (qp.programmed().get(RETRY_COUNT) + 1) * TIME_OUT_UNIT_NANOS << timeout;
  }

  /**
   * Checks a queue pair in RTS.
   *
   * @param now nanoseconds of a clock of the card's time
   */
  Found look(long now) {
    int before = progress.completed();
    int tick = progress.oldestTick();
    if (!progress.isStuck()) {
      if (progress.completed() != before) {
        maintenance.moved(tick);
      }
      since = now;
      alone = now;
      return progress.isBusy() ? Found.BUSY : Found.IDLE;
    }
    if (maintenance.hasMovedBefore(progress.oldestTick())) {
      alone = now;
    }
    return qp.type() == QpType.RC && isOver(now) ? Found.TIME_OUT : Found.BUSY;
  }

  private boolean isOver(long now) {
    boolean times = qp.programmed().get(ACK_TIMEOUT) != 0;
    long limit = times ? nanos() : ASK_NANOS;
    if (!progress.isSurelyStuck()) {
      boolean _ = isSlow(now); // the first picture
      return false;
    }
    if (now - since < PATIENCE * limit && (now - alone < limit || isSlow(now))) {
      return false;
    }
    if (isLost()) {
      health.fail(
          ("the peer has acknowledged all sends of %s, and the card gives no completion: it has"
                  + " lost track of the outstanding requests%s")
              .formatted(qp.describe(), advice()));
      return false;
    }
    if (!times) {
      since = now; // it waits indefinitely, and the card is queried periodically
      alone = now;
    }
    return times;
  }

  /**
   * Whether the card has made progress in sending, or in acknowledgements, since the last query.
   */
  private boolean isSlow(long now) {
    if (profile.misplacesSequenceNumbers() && !psns.rests(now)) {
      alone = now;
      return true;
    }
    return false;
  }

  /** The setting that is the likely cause, if there is one. */
  private String advice() {
    return outstanding > profile.requestsOutstanding()
        ? "; remove outstanding=%d from its locator: this card is safe with %d of a queue pair"
            .formatted(outstanding, profile.requestsOutstanding())
        : "";
  }

  /** Whether completions that can no longer arrive have been missing for a time-out. */
  private boolean isLost() {
    return psns.wasAllAcknowledged() && work.ofSends().unfinished() > 0;
  }

  /** Whether the peer is also on this device and cannot receive. */
  boolean isRefused() {
    QueuePairContext c = qp.programmed();
    DriverQueuePair peer = queuePairs.find(c.get(REMOTE_QPN));
    return peer != null
        && peer.programmed().get(REMOTE_QPN) == qp.number()
        && c.get(DMAC_HIGH) == c.get(SMAC_HIGH)
        && c.get(DMAC_LOW) == c.get(SMAC_LOW)
        && StateFlowBySoftware.of(peer).cannotReceive();
  }
}
