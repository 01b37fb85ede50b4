package org.hghca.driver.rtl.recovery;

import static org.hghca.abi.QueuePairContext.MTU;
import static org.hghca.abi.QueuePairContext.NEXT_SEND_PSN;
import static org.hghca.abi.QueuePairContext.REMOTE_QPN;

import org.hghca.abi.HardwareProfile;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.driver.completion.QueuePairRings;
import org.hghca.driver.rtl.ring.CheckedReceiveRing;
import org.hghca.driver.rtl.ring.QuotaSendRing;
import org.hghca.driver.state.ProgrammedContext;
import org.hghca.driver.state.QpContexts;
import org.hghca.driver.state.QueuePairState;
import org.hghca.driver.transition.DriverQueuePair;
import org.hghca.driver.transition.StateFlow;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.mailbox.CommandInterface;
import org.hghca.provider.Failures;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpAttribute;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;

/**
 * The states of a queue pair on a card that neither times out nor flushes: the RTL. It detects
 * sends that the card will not complete and errors that the card does not report, moves the card to
 * ERR, and determines whether the number can be reused.
 */
public final class StateFlowBySoftware implements StateFlow, RtlReports {
  private static final ConditionLog LOG = ConditionLog.of(StateFlowBySoftware.class);

  private static final int PSN_MASK = 0xff_ffff;

  /** A tenth of all PSNs: a program that is told then has time to connect another queue pair. */
  private static final int FEW_PSNS = (PSN_MASK + 1) / 10;

  private final DriverQueuePair qp;
  private final QueuePairState state;
  private final ProgrammedContext context;
  private final QueuePairRings rings;
  private final QuotaSendRing sends;
  private final QueuePairWork work;
  private final DeviceRecovery device;
  private final HardwareProfile profile;
  private final CommandInterface commands;
  private final SoftwareMaintenance maintenance;
  private final FlushBySoftware flush;
  private final NumberReuse reuse;
  private final PsnWatch psns;
  private final SilentErrors silentErrors;
  private final SendProgress progress;
  private final SendTimeout timeout;
  private final ErrorEntry entry;

  /** The probable sequence number of sends. */
  private volatile int announcedPsn;

  /** Whether a time-out has ended it. */
  private boolean timedOut;

  /** Whether the program was told that few PSNs are left. */
  private boolean warned;

  /**
   * The time since it waits for its sends to become idle, in maintenance time; 0 while it does not.
   */
  private long endsSince;

  /**
   * For a queue pair in RESET.
   *
   * @param work what stands in its completion queues
   */
  public StateFlowBySoftware(
      DriverQueuePair qp,
      QueuePairState state,
      ProgrammedContext context,
      QueuePairWork work,
      DeviceRecovery device) {
    this.qp = qp;
    this.state = state;
    this.context = context;
    this.rings = qp.rings();
    this.sends = QuotaSendRing.of(rings);
    this.work = work;
    this.device = device;
    this.profile = device.card().limits().profile();
    this.commands = device.card().commands();
    this.maintenance = device.maintenance();
    this.reuse = new NumberReuse(qp, work, profile, device.numbers());
    this.flush = new FlushBySoftware(rings, state, qp.capabilities(), reuse);
    this.psns = new PsnWatch(qp.number(), context, sends, commands, device.card().time());
    this.silentErrors = new SilentErrors(qp, work, psns, reuse, profile);
    this.progress = new SendProgress(rings, work);
    this.timeout = new SendTimeout(qp, work, progress, psns, device);
    this.entry = new ErrorEntry(qp, work, context, flush, reuse, psns, timeout, device);
    sends.flushedBy(flush, maintenance::wake);
    CheckedReceiveRing.of(rings).startAt(reuse::firstReceive);
  }

  /** That of a queue pair: on the RTL each has such a flow. */
  public static StateFlowBySoftware of(DriverQueuePair qp) {
    return (StateFlowBySoftware) qp.rings().errors();
  }

  @Override
  public FlushBySoftware flush() {
    return flush;
  }

  public QuotaSendRing sends() {
    return sends;
  }

  /** Whether an outstanding request names memory by its key. Without a lock of its rings. */
  public boolean names(int key) {
    state.lockReceives();
    try {
      if (CheckedReceiveRing.of(rings).names(key)) {
        return true;
      }
    } finally {
      state.unlockReceives();
    }
    return sends.names(key);
  }

  /** Whether the queue pair cannot receive now. It may be any queue pair, without its lock. */
  boolean cannotReceive() {
    return state.get() == QpState.ERR
        || rings.receives().outstanding() == 0
        || profile.misplacesSequenceNumbers()
            && state.takesReceives()
            && psns.ask().state() == QpcState.ERR;
  }

  // ---- reports of completions

  @Override
  public void reported(boolean send, WcStatus status) {
    if (state.get() != QpState.ERR) {
      markPositionUnknown(); // an error that the driver did not order
    }
    qp.failed();
  }

  private void markPositionUnknown() {
    reuse.markPositionUnknown();
    maintenance.wake();
  }

  @Override
  public WcStatus unknownCause() {
    return flush.unknownCause(state.get() == QpState.ERR);
  }

  @Override
  public boolean takeLate(boolean send, int wqe) {
    if (send && sends.takeFlush(wqe)) {
      return true;
    }
    boolean late = flush.takeLate(send);
    if (late) {
      device.counts().countLateCompletion();
    }
    return late;
  }

  @Override
  public void received(int bytes) {
    reuse.received(bytes);
  }

  @Override
  public int packets(int bytes) {
    return reuse.packets(bytes);
  }

  @Override
  public boolean awaits(boolean send, int wqe) {
    return flush.awaits(send, wqe);
  }

  @Override
  public int awaited() {
    return flush.awaited();
  }

  @Override
  public void failed() {
    maintenance.wake();
  }

  /** The card itself has moved it to ERR, which no completion reports. */
  private void failedSilently() {
    markPositionUnknown();
    if (qp.failed()) {
      qp.raise(AsyncEventType.QP_FATAL);
    }
  }

  // ---- states

  @Override
  public void announced(int psn) {
    announcedPsn = psn;
  }

  @Override
  public void advance(QpState from, QpState to, QpAttributes attributes) {
    checkSupported(to);
    boolean concernsCard = concernsCard(from, to, attributes);
    QueuePairContext next = context.last().copy();
    if (concernsCard && from != QpState.RESET && from != QpState.INIT) {
      putPsnsInto(next);
    }
    qp.attributes().apply(attributes, to, next);
    if (qp.type() == QpType.UD && attributes.has(QpAttribute.SQ_PSN)) {
      // The RTL drops a datagram with a PSN other than the next: both ends begin with 0.
      QpContexts.sendFrom(0, next);
    }
    if (to == QpState.RTR) {
      QpContexts.sendFrom(announcedPsn, next);
    }
    if (concernsCard) {
      context.program(from, next);
    } else {
      context.keep(next);
    }
    if (to == QpState.RTS) {
      commands.awaitExecution();
    }
    setPath(next); // before any request can be posted
    if (from == QpState.RTR && qp.type() == QpType.RC && !profile.psnWraps()) {
      sends.startAt(next.get(NEXT_SEND_PSN) & PSN_MASK);
    }
    state.change(from, to);
    begin(to);
  }

  private void checkSupported(QpState to) {
    if (to == QpState.SQD || to == QpState.SQE) {
      throw new VerbsException(
          Errno.EOPNOTSUPP,
          "the card drops what is posted in %s: move the queue pair to ERR instead".formatted(to));
    }
  }

  /**
   * Whether the card needs a command for a change. The RTL sends in RTR as it does in RTS, and of
   * the fields that may change then it uses only the first send sequence number. The card gets no
   * command, because it would go back to the sequence numbers of the last query, and refuse a peer
   * that has sent messages since.
   */
  private boolean concernsCard(QpState from, QpState to, QpAttributes attributes) {
    if (to != QpState.RTS) {
      return true;
    }
    return from == QpState.RTR
        && qp.type() != QpType.UD
        && attributes.sendPsn() != context.last().get(NEXT_SEND_PSN);
  }

  /** Lets the card continue at its current position. */
  private void putPsnsInto(QueuePairContext next) {
    if (profile.misplacesSequenceNumbers()) {
      try {
        psns.ask().putInto(next);
      } catch (RuntimeException e) {
        throw Failures.of("cannot query " + qp.describe(), e);
      }
    }
  }

  /** Sets the destination in the request checks. */
  private void setPath(QueuePairContext c) {
    int packetLog = Integer.numberOfTrailingZeros(Mtu.of(c.get(MTU)).bytes());
    if (qp.type() == QpType.RC && qp.attributes().leadsBack(c)) {
      sends.path(packetLog, c.get(REMOTE_QPN));
    } else {
      sends.path(packetLog);
    }
  }

  private void begin(QpState state) {
    if (state == QpState.RTR) {
      reuse.begin();
      silentErrors.begin();
      maintenance.wake();
    } else if (state == QpState.RTS) {
      progress.begin();
      psns.begin(context.last().get(NEXT_SEND_PSN));
      maintenance.wake();
    }
  }

  @Override
  public QpAttributes query() {
    if (silentErrors.showsError()) {
      failedSilently();
    }
    return QpContexts.attributes(context.last(), state.get());
  }

  @Override
  public void stop(QpState from, QpState to, QpAttributes attributes) {
    if (to == QpState.RESET) {
      reuse.check();
    }
    state.enter(QpState.ERR);
    entry.follow();
    qp.checkOpen(); // others may close it during the wait
    if (to == QpState.RESET) {
      prepareReset();
      state.enter(QpState.RESET);
      context.program(QpState.ERR, QpContexts.reset(context.last()));
      qp.forget();
      forgetLife();
    }
  }

  private void forgetLife() {
    reuse.reset();
    psns.forget();
    entry.reset();
    timedOut = false;
    warned = false;
    endsSince = 0;
  }

  // ---- out of it

  /**
   * Moves the queue pair, which is in ERR or no further than INIT, to a state from which it can
   * restart.
   *
   * @throws VerbsException EIO when the card would not continue at the start of the next use
   */
  private void prepareReset() {
    if (!reuse.hasLived()) {
      return;
    }
    String obstacle = entry.awaitFlush() ? reuse.obstacle() : "sends that do not end";
    if (obstacle != null) {
      throw reuse.hopeless(obstacle);
    }
  }

  @Override
  public void reset() {
    flush.reset();
    device.inFlight().ringWaiting(); // with the budget that this one has returned
  }

  @Override
  public void end(QpState last) {
    try {
      end();
    } catch (RuntimeException e) {
      // It stays registered under its number, so that late completions are recognized.
      flush.over();
      qp.forget();
      device.numbers().retire(qp.number());
      throw e;
    }
  }

  private void end() {
    if (!reuse.hasLived()) {
      return;
    }
    if (!entry.awaitFlush()) {
      qp.quarantineCompletions();
      throw new VerbsException(
          Errno.EIO, "the card does not complete %s's sends".formatted(qp.describe()));
    }
    String obstacle = reuse.obstacle();
    if (obstacle != null) {
      LOG.debug(about(), "{} is not used again, because of {}", qp.describe(), obstacle);
    }
  }

  @Override
  public void freeNumber() {
    reuse.free();
  }

  // ---- maintenance

  /**
   * Checks whether its sends make progress, and whether the card still accepts messages for it.
   * Without a monitor.
   *
   * @param now nanoseconds of a clock of the card's time
   */
  public SoftwareMaintenance.Need look(long now) {
    synchronized (qp) {
      if (qp.isClosed() || device.card().health().isDead()) {
        return SoftwareMaintenance.Need.NONE;
      }
      if (needsSoon(now)) {
        return SoftwareMaintenance.Need.OFTEN;
      }
      if (silentErrors.find(now)) {
        failedSilently();
        boolean _ = needsSoon(now);
        return SoftwareMaintenance.Need.OFTEN;
      }
      return state.get() == QpState.RTR || state.get() == QpState.RTS
          ? SoftwareMaintenance.Need.SELDOM
          : SoftwareMaintenance.Need.NONE;
    }
  }

  /** Checks whether the card still completes its sends, and whether to check again soon. */
  private boolean needsSoon(long now) {
    return switch (state.get()) {
      case RTS -> lookAtSends(now);
      case ERR -> lookAtFlush(now);
      default -> false;
    };
  }

  private boolean lookAtSends(long now) {
    warnOfLastPsn();
    if (sends.isAtLastPsn() && work.ofSends().unfinished() == 0) {
      endAtLastPsn(now);
      return true;
    }
    SendTimeout.Found found = timeout.look(now);
    if (found == SendTimeout.Found.TIME_OUT) {
      timeOut(now);
    }
    return found != SendTimeout.Found.IDLE;
  }

  /** What was rung is complete, and the next send would have the last PSN, which stops the card. */
  private void endAtLastPsn(long now) {
    flush.cause(WcStatus.LOC_QP_OP_ERR);
    device.counts().countEndAtLastPsn();
    LOG.warn(
        about(),
        "{} goes to ERR: its next send would have PSN FFFFFFh, which stops this card, and its peer"
            + " offered no memory for READs over it; connect another queue pair",
        qp.describe());
    qp.failed();
    boolean _ = lookAtFlush(now);
  }

  private About about() {
    return About.device(device.card().function().locator()).qpn(qp.number());
  }

  private void warnOfLastPsn() {
    if (!warned && sends.endsAtLastPsn() && sends.psnsLeft() <= FEW_PSNS) {
      warned = true;
      LOG.warn(
          about(),
          "{} has {} packets left before PSN FFFFFFh, where it ends: its peer offered no memory for"
              + " READs over it",
          qp.describe(),
          sends.psnsLeft());
      qp.raise(AsyncEventType.QP_LAST_WQE_REACHED);
    }
  }

  /** The oldest send will not complete. */
  private void timeOut(long now) {
    int polled = work.ofSends().sends();
    boolean refused = sends.needsReceive(polled) && timeout.isRefused();
    flush.cause(refused ? WcStatus.RNR_RETRY_EXC_ERR : WcStatus.RETRY_EXC_ERR);
    reuse.markPositionUnknown();
    timedOut = true;
    endsSince = timeout.since();
    qp.failed();
    boolean _ = lookAtFlush(now); // which also proves that the card still executes commands
    maintenance.timedOut(qp, now - timeout.since(), refused);
  }

  private boolean lookAtFlush(long now) {
    endsSince = endsSince == 0 ? now : endsSince;
    if (!entry.follow(now, now - endsSince)) {
      return true;
    }
    entry.ringPendingFlush();
    if (timedOut || progress.isStuck() && progress.isSurelyStuck()) {
      flush.endSends();
      return false;
    }
    return progress.isBusy();
  }
}
