package org.hghca.driver;

import static org.hghca.abi.QueuePairContext.ACK_TIMEOUT;
import static org.hghca.abi.QueuePairContext.DMAC_HIGH;
import static org.hghca.abi.QueuePairContext.DMAC_LOW;
import static org.hghca.abi.QueuePairContext.MTU;
import static org.hghca.abi.QueuePairContext.NEXT_RECEIVE_PSN;
import static org.hghca.abi.QueuePairContext.NEXT_SEND_PSN;
import static org.hghca.abi.QueuePairContext.REMOTE_QPN;
import static org.hghca.abi.QueuePairContext.RETRY_COUNT;
import static org.hghca.abi.QueuePairContext.SMAC_HIGH;
import static org.hghca.abi.QueuePairContext.SMAC_LOW;
import static org.hghca.abi.QueuePairContext.STATE;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a queue pair ends on a card that neither times out nor flushes: the RTL. It notices sends
 * that the card will not complete, has the card follow into ERR without losing its place there, and
 * knows whether the number can have another life.
 *
 * <p>Called under the queue pair's monitor unless said otherwise.
 */
final class SoftwareErrorFlow {
  private static final Logger LOG = LoggerFactory.getLogger(SoftwareErrorFlow.class);
  private static final int PSN_MASK = 0xff_ffff;

  /** Bytes of the MTU of code 0; each further code doubles them. */
  private static final int MTU_UNIT = 128;

  private static final long TIME_OUT_UNIT_NANOS = 4096;

  /** How much longer than its time-out a queue pair is waited for that may be merely slow. */
  private static final int PATIENCE = 8;

  /** What a queue pair without a time-out is given to become quiet: code 14, 8 times. */
  private static final long USUAL_TIME_OUT_NANOS = 8 * TIME_OUT_UNIT_NANOS << 14;

  /** How long sequence numbers rest before nothing is taken to be in the air. */
  private static final long REST_NANOS = 1_000_000;

  private static final long REST_STEP_NANOS = 100_000;

  /** Looks that must find no progress before it is believed that there is none. */
  private static final int LOOKS = 2;

  /** Looks that may find sequence numbers moving before that is no reason to wait any more. */
  private static final int LOOKS_FOR_REST = 100;

  /** How long the card may take to flush what it was told to. */
  private static final long FLUSH_NANOS = 20_000_000;

  private static final long FLUSH_STEP_NANOS = 20_000;

  /** How often to ask the card of a queue pair that waits for messages. */
  private static final long ASK_NANOS = 1_000_000_000;

  private final HghcaQueuePair qp;
  private final HghcaDevice device;
  private final HardwareProfile profile;
  private final SendRing sends;
  private final SoftwareFlush flush;

  /** Whether the card was told of ERR. */
  private boolean followed;

  /** Whether it is to flush, and there was no doorbell left to tell it. */
  private boolean flushPending;

  /** Whether the queue pair has been in RTR. */
  private boolean lived;

  private int firstReceivePsn;

  /** Where this life has begun; null for the beginning of a number that had none before. */
  private ReceivePosition start;

  /** Where another life would begin; null while this one has not ended, or when there is none. */
  private ReceivePosition next;

  /** Whether something has happened after which nobody knows where the card is. */
  private volatile boolean positionUnknown;

  /** Packets of the receives that have completed since RTR. Under the receive queue's lock. */
  private int packets;

  private boolean busy;
  private int seen;

  /** Since when it has completed nothing, and since when it waits for nobody else. */
  private long since;

  private long alone;
  private int looks;

  /** When the card heard of its oldest send, in ticks of {@link InFlightLimits}. */
  private int oldestTick;

  /** The sequence number of its first send. */
  private int firstSendPsn;

  /** What the card said last of its sequence numbers, and since when; null for not asked. */
  private LivePsns picture;

  private long pictured;

  /** Whether a time-out has ended it. */
  private boolean timedOut;

  /** Since when it waits for its sends to be quiet, as the sweep has it; 0 while it does not. */
  private long endsSince;

  /** When the card was asked last, and how many receives were complete then. */
  private long asked;

  private int receivedThen;

  SoftwareErrorFlow(HghcaQueuePair qp, HghcaDevice device, SoftwareFlush flush) {
    this.qp = qp;
    this.device = device;
    this.profile = device.limits().profile();
    this.sends = qp.sends();
    this.flush = flush;
    this.start = device.qpNumbers().position(qp.number()).orElse(null);
  }

  // ---- what completions tell, under a completion queue's lock

  /** The card has reported an error that the driver did not order. */
  void markPositionUnknown() {
    positionUnknown = true;
    device.maintenance().wake();
  }

  /** A receive of so many bytes has completed. */
  void received(int bytes) {
    packets += packets(bytes);
  }

  /** How many packets a message of so many bytes has. */
  int packets(int bytes) {
    int mtu = MTU_UNIT << qp.programmed().get(MTU);
    return Math.max(1, (bytes + mtu - 1) / mtu);
  }

  // ---- states

  /** The card was given a state. */
  void entered(QpState state) {
    switch (state) {
      case RESET -> {
        lived = false;
        start = next == null ? start : next;
        next = null;
        followed = false;
        flushPending = false;
        packets = 0;
        timedOut = false;
        endsSince = 0;
        picture = null;
      }
      case RTR -> {
        lived = true;
        firstReceivePsn = qp.programmed().get(NEXT_RECEIVE_PSN);
        receivedThen = qp.receives().tail() - 1; // looks like a receive: it is not asked at once
        device.maintenance().wake();
      }
      case RTS -> {
        busy = false;
        seen = 0;
        firstSendPsn = qp.programmed().get(NEXT_SEND_PSN);
        device.maintenance().wake();
      }
      default -> {}
    }
  }

  /**
   * The queue pair is in ERR by our own state: has the card follow as soon as no packet of it is in
   * the air, or when that was waited for long enough. Others may have the monitor meanwhile.
   */
  void follow() {
    long start = device.time().nanoTime();
    boolean interrupted = false;
    for (long now = start; !follow(now, now - start); now = device.time().nanoTime()) {
      try {
        TimeUnit.NANOSECONDS.timedWait(qp, REST_STEP_NANOS);
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
   * @param now as in {@link #look}
   * @param waited how long it was waited for already
   * @return whether the card has followed
   */
  private boolean follow(long now, long waited) {
    if (followed) {
      return true;
    }
    // Also where the queue pair is being closed: a doorbell that comes when the card is in RST
    // would have it send.
    sends.stopRinging();
    // The second RTL looks at no state, and what its context says of sequence numbers is unknown.
    if (profile.errorCqes()) {
      if (!isQuiet(now)) {
        if (waited < PATIENCE * timeOutNanos()) {
          return false;
        }
        device.endedUnderTraffic();
        LOG.warn(
            "{} goes to ERR while it sends, which can stop the card: it was not quiet for {} ms",
            qp.describe(),
            waited / 1_000_000);
      }
      tellCard();
    }
    followed = true;
    busy = false;
    flush.endReceives();
    qp.sendCompletionQueue().addFlushing(qp);
    qp.receiveCompletionQueue().addFlushing(qp);
    device.maintenance().wake();
    return true;
  }

  private void tellCard() {
    LivePsns psns = atRest();
    // Already there by itself, or perhaps: it met a message without a receive, or an error.
    boolean fell = psns.state() == QpcState.ERR || psns.state() == LivePsns.UNKNOWN;
    positionUnknown |= lived && fell;
    QueuePairContext next = qp.programmed().copy().set(STATE, QpcState.ERR);
    psns.putInto(next);
    qp.program(HcrCommand.ANY2ERR, QpContexts.state(qp.programmed()), next);
    // One more command: the card has carried the last one out before it begins with this, and what
    // was under way then has ended when this ends.
    device.commands().queryQp(qp.number());
    flushPending =
        qp.type() == QpType.RC && qp.sendCompletionQueue().outstandingWork(qp).unfinished() > 0;
    ringPendingFlush();
  }

  /**
   * Whether nothing of its sends is in the air: all are complete, or the card is in ERR by itself,
   * or all packets have left and nothing has come back for a while.
   */
  private boolean isQuiet(long now) {
    if (qp.sendCompletionQueue().outstandingWork(qp).unfinished() == 0) {
      return true;
    }
    if (qp.type() != QpType.RC) {
      return false; // complete when their packets have left
    }
    boolean rests = rests(now);
    return picture.state() == QpcState.ERR || rests && hasSentAll();
  }

  /** Asks the card; returns whether it has said the same for a while. */
  private boolean rests(long now) {
    LivePsns live = psns(qp);
    if (!live.equals(picture)) {
      picture = live;
      pictured = now;
    }
    return now - pictured >= REST_NANOS;
  }

  /** Whether all packets of what was rung have left, as the card said last. */
  private boolean hasSentAll() {
    return picture.nextSend() == (int) (firstSendPsn + sends.packets() & PSN_MASK);
  }

  private void ringPendingFlush() {
    flushPending = flushPending && !sends.ringFlush();
  }

  /** What the card says when it says the same twice: MODIFY_QP takes back what moves meanwhile. */
  private LivePsns atRest() {
    LivePsns now = psns(qp);
    LivePsns before;
    int looks = 0;
    do {
      before = now;
      now = psns(qp);
    } while (!now.equals(before) && ++looks < LOOKS_FOR_REST);
    return now;
  }

  /** What the card says of a queue pair that it was given. */
  private LivePsns psns(HghcaQueuePair other) {
    return LivePsns.read(
        device.commands(),
        device.time(),
        other.number(),
        other.programmed(),
        other.sends().hasRung());
  }

  /** Puts the sequence numbers that the card has come to into a context. */
  void goOn(QueuePairContext next) {
    if (profile.misplacesSequenceNumbers()) {
      psns(qp).putInto(next);
    }
  }

  /** Whether the card is in ERR, as far as it can tell. */
  boolean showsError() {
    return profile.misplacesSequenceNumbers()
        && (lived || qp.state() == QpState.RTS)
        && psns(qp).state() == QpcState.ERR;
  }

  // ---- another life

  /**
   * Takes the queue pair, which is in ERR or what has not come further than INIT, to where it can
   * begin anew.
   *
   * @throws VerbsException EIO when the card would not go on from where the next life begins
   */
  void prepareReset() {
    if (!lived) {
      return;
    }
    String obstacle = awaitFlush() ? obstacle() : "sends that do not end";
    if (obstacle != null) {
      throw hopeless(obstacle);
    }
  }

  /**
   * The slot where the receive ring begins: that of the next life after {@link #prepareReset}, else
   * that of this one.
   */
  int firstReceive() {
    ReceivePosition first = next == null ? start : next;
    return first == null ? 0 : first.next();
  }

  /** Whether a life of this queue pair could be followed by another at all. */
  void checkReset() {
    if (lived && neverResumes() != null) {
      throw hopeless(neverResumes());
    }
  }

  private VerbsException hopeless(String obstacle) {
    return new VerbsException(
        Errno.EIO,
        "%s cannot be reused on this card, because of %s: destroy it and create another"
            .formatted(qp.describe(), obstacle));
  }

  /**
   * Ends for good, with the card in ERR and nothing under way.
   *
   * @throws VerbsException EIO when sends do not end, so that the card may reach what they name
   */
  void end() {
    if (!lived) {
      return;
    }
    if (!awaitFlush()) {
      qp.sendCompletionQueue().distrust();
      qp.receiveCompletionQueue().distrust();
      throw new VerbsException(
          Errno.EIO, "the card does not complete %s's sends".formatted(qp.describe()));
    }
    String obstacle = obstacle();
    if (obstacle != null) {
      LOG.debug("{} is not used again, because of {}", qp.describe(), obstacle);
    }
  }

  /** Gives the number back, as far as another queue pair can have it. After {@link #end}. */
  void freeNumber(RingNumbers<ReceivePosition> numbers) {
    ReceivePosition position = lived ? next : start;
    if (position != null) {
      numbers.free(qp.number(), position);
    } else if (lived) {
      numbers.retire(qp.number());
    } else {
      numbers.free(qp.number());
    }
  }

  /** Waits for the card to flush what it has; returns whether it did. */
  private boolean awaitFlush() {
    follow();
    long start = device.time().nanoTime();
    while (qp.sendCompletionQueue().outstandingWork(qp).unfinished() > 0) {
      if (device.time().nanoTime() - start > FLUSH_NANOS || device.health().isDead()) {
        return false;
      }
      ringPendingFlush();
      LockSupport.parkNanos(FLUSH_STEP_NANOS);
    }
    return true;
  }

  /** Why this number cannot be used again; null when it can, and then we know from where. */
  private String obstacle() {
    next = null;
    String never = neverResumes();
    if (never != null) {
      return never;
    }
    if (positionUnknown) {
      return "errors that it met";
    }
    OutstandingWork work = qp.receiveCompletionQueue().outstandingWork(qp);
    int expected = qp.programmed().get(NEXT_RECEIVE_PSN);
    int unexplained = expected - firstReceivePsn - packets - work.packets() & PSN_MASK;
    if (work.receivesLeft() > 0 && unexplained != 0) {
      return "a receive that may be half filled";
    }
    next = work.next();
    return null;
  }

  private String neverResumes() {
    if (!profile.positionsResumable()) {
      return "unknown queue positions";
    }
    return qp.type() == QpType.RC ? null : "messages that may have found no receive";
  }

  // ---- time-outs

  /**
   * Looks whether the card still completes what it was given.
   *
   * @param now nanoseconds of a clock of the card's time
   * @return whether another look is wanted soon
   */
  boolean look(long now) {
    return switch (qp.state()) {
      case RTS -> lookAtSends(now);
      case ERR -> lookAtFlush(now);
      default -> false;
    };
  }

  private boolean lookAtSends(long now) {
    int before = seen;
    int tick = oldestTick;
    if (!isStuck()) {
      if (seen != before) {
        device.maintenance().moved(tick);
      }
      since = now;
      alone = now;
      return busy;
    }
    if (device.maintenance().hasMovedBefore(oldestTick)) {
      alone = now;
    }
    if (qp.type() == QpType.RC) {
      lookAtStuck(now);
    }
    return true;
  }

  private void lookAtStuck(long now) {
    boolean times = qp.programmed().get(ACK_TIMEOUT) != 0;
    long limit = times ? timeOutNanos() : ASK_NANOS;
    if (looks < LOOKS) {
      boolean _ = isSlow(now); // the first picture
    } else if (now - since >= PATIENCE * limit || now - alone >= limit && !isSlow(now)) {
      giveUp(now, times);
    }
  }

  /**
   * Whether the card has moved on in what it sends, or what is acknowledged, since it was asked.
   */
  private boolean isSlow(long now) {
    if (profile.misplacesSequenceNumbers() && !rests(now)) {
      alone = now;
      return true;
    }
    return false;
  }

  /** (retry_cnt + 1) times the acknowledgement's. */
  private long timeOutNanos() {
    int timeout = qp.programmed().get(ACK_TIMEOUT);
    return qp.type() != QpType.RC || timeout == 0
        ? USUAL_TIME_OUT_NANOS
        : (qp.programmed().get(RETRY_COUNT) + 1) * TIME_OUT_UNIT_NANOS << timeout;
  }

  private boolean lookAtFlush(long now) {
    endsSince = endsSince == 0 ? now : endsSince;
    if (!follow(now, now - endsSince)) {
      return true;
    }
    ringPendingFlush();
    if (timedOut || isStuck() && looks >= LOOKS) {
      flush.endSends();
      return false;
    }
    return busy;
  }

  /** Whether the card has sends to complete and has completed none since the last look. */
  private boolean isStuck() {
    OutstandingWork work = qp.sendCompletionQueue().outstandingWork(qp);
    boolean was = busy && work.sent() == seen;
    busy = work.unfinished() > 0;
    seen = work.sent();
    oldestTick = sends.tick(work.sends());
    looks = was && busy ? looks + 1 : 0;
    return looks > 0;
  }

  /** The oldest send will not complete any more. */
  private void giveUp(long now, boolean times) {
    if (isLost()) {
      device
          .health()
          .fail(
              ("the peer has acknowledged all sends of %s, and the card gives no completion: it has"
                      + " lost track of the outstanding requests")
                  .formatted(qp.describe()));
    } else if (times) {
      timeOut(now);
    } else {
      since = now; // it waits for ever, and the card is asked now and then
      alone = now;
    }
  }

  /**
   * Whether completions are missing that cannot come any more: the card has sent all, and has seen
   * all acknowledged, and that for as long as a time-out.
   */
  private boolean isLost() {
    return picture != null
        && picture.state() != QpcState.ERR
        && picture.oldestUnacked() == picture.nextSend()
        && hasSentAll()
        && qp.sendCompletionQueue().outstandingWork(qp).unfinished() > 0;
  }

  private void timeOut(long now) {
    boolean refused =
        sends.needsReceive(qp.sendCompletionQueue().outstandingWork(qp).sends()) && isRefused();
    flush.cause(refused ? WcStatus.RNR_RETRY_EXC_ERR : WcStatus.RETRY_EXC_ERR);
    positionUnknown = true;
    timedOut = true;
    endsSince = since;
    qp.failed();
    boolean _ = lookAtFlush(now); // and so proves that the card still takes commands
    device.maintenance().timedOut(qp, now - since, refused);
  }

  /**
   * Whether the card has put a queue pair that waits for messages into ERR and gives no completion
   * that says so: a message found no receive, or too small a one, or bad memory. The card is asked
   * at most once a second, and not while messages come.
   *
   * @param now as in {@link #look}
   */
  boolean isSilentlyInError(long now) {
    QpState state = qp.state();
    if (state != QpState.RTR && state != QpState.RTS || !profile.misplacesSequenceNumbers()) {
      return false;
    }
    int received = qp.receives().tail();
    if (received != receivedThen || qp.receives().outstanding() == 0) {
      receivedThen = received;
      asked = now;
      return false;
    }
    if (now - asked < ASK_NANOS) {
      return false;
    }
    asked = now;
    // What fails a send says so.
    return showsError() && qp.sendCompletionQueue().outstandingWork(qp).sends() == 0;
  }

  /** Whether the peer is of this device too and cannot receive. */
  private boolean isRefused() {
    QueuePairContext c = qp.programmed();
    HghcaQueuePair peer = device.queuePairs().find(c.get(REMOTE_QPN));
    boolean ours =
        peer != null
            && peer.programmed().get(REMOTE_QPN) == qp.number()
            && c.get(DMAC_HIGH) == c.get(SMAC_HIGH)
            && c.get(DMAC_LOW) == c.get(SMAC_LOW);
    if (!ours) {
      return false;
    }
    if (peer.state() == QpState.ERR || peer.receives().outstanding() == 0) {
      return true;
    }
    return profile.misplacesSequenceNumbers()
        && peer.takesReceives()
        && psns(peer).state() == QpcState.ERR;
  }
}
