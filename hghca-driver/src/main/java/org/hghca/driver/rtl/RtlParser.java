package org.hghca.driver.rtl;

import java.util.Collection;
import org.hghca.abi.Cqe;
import org.hghca.abi.WqeOpcode;
import org.hghca.driver.card.Card;
import org.hghca.driver.completion.CompletionParser;
import org.hghca.driver.completion.CompletionRing;
import org.hghca.driver.completion.QpTable;
import org.hghca.driver.completion.QueuePairRings;
import org.hghca.driver.ring.SendRing;
import org.hghca.driver.rtl.recovery.FlushBySoftware;
import org.hghca.driver.rtl.recovery.OutstandingWork;
import org.hghca.driver.rtl.recovery.RecoveredCompletionQueue;
import org.hghca.driver.rtl.recovery.RtlReports;
import org.hghca.driver.rtl.ring.CheckedReceiveRing;
import org.hghca.driver.rtl.ring.DoorbellQuota;
import org.hghca.driver.rtl.ring.QuotaSendRing;
import org.hghca.provider.queue.SpinLock;
import org.hghca.provider.srq.Due;
import org.hghca.verbs.Completions;
import org.hghca.verbs.WcStatus;

/**
 * Completions of the RTL, which contain little information about receives and errors: posted
 * requests identify a receive, and an entry that matches no receive is an error. Some requests
 * complete in steps, and completions let waiting send rings continue.
 *
 * <p>Under the completion queue's lock, except for what state flows and maintenance call, which
 * takes it.
 */
final class RtlParser extends CompletionParser implements RecoveredCompletionQueue {
  private final SpinLock lock;
  private final CompletionDecode decode;
  private final DoorbellQuota quota;
  private final Collection<RecoveredCompletionQueue> all;
  private final PendingDoorbells pendingDoorbells = new PendingDoorbells();

  /** Lets send rings of any queue continue; the only thing due, since no receives are shared. */
  private final Due waiting;

  /** The position after the last known completion, polled or not. */
  private int seen;

  /** Whether the ring's memory may be free. */
  private boolean closed;

  /**
   * A parser of a queue.
   *
   * @param queue its name in messages
   * @param lock of the queue
   * @param all those of the device, which this one joins until it is closed
   */
  RtlParser(
      Card card,
      String queue,
      CompletionRing ring,
      SpinLock lock,
      QpTable<QueuePairRings> queuePairs,
      DoorbellQuota quota,
      Collection<RecoveredCompletionQueue> all) {
    super(queue, ring, queuePairs, card.health());
    this.lock = lock;
    this.decode = new CompletionDecode(card.limits().profile());
    this.quota = quota;
    this.all = all;
    this.waiting = this::ringWaiting;
    all.add(this);
  }

  @Override
  public void close() {
    closed = true;
    all.remove(this);
  }

  // ---- taking completions

  @Override
  protected int completeSend(SendRing ring, int wqe, int bytes, Completions out, int count) {
    QuotaSendRing sends = (QuotaSendRing) ring;
    int filled = sends.succeed(out, count, bytes);
    pendingDoorbells.add(sends);
    return filled;
  }

  @Override
  protected int failSend(
      QueuePairRings qp, WcStatus status, int vendorError, Completions out, int count) {
    QuotaSendRing sends = QuotaSendRing.of(qp);
    int error = FlushBySoftware.vendorError(status, vendorError);
    int filled = sends.complete(out, count, status.code(), error, 0);
    pendingDoorbells.add(sends);
    return filled;
  }

  /**
   * Takes a receive, without its immediate, or an error in disguise. Receives are taken in order:
   * the offset in the completion is unreliable.
   */
  @Override
  protected int completeReceive(
      QueuePairRings qp,
      int last,
      int wqe,
      int bytes,
      int immediate,
      int sourceQp,
      Completions out,
      int count) {
    int opcode = Cqe.opcode(last);
    if (decode.isSendError(opcode, sourceQp, bytes)) {
      return error(qp, true, wqe, CompletionDecode.cause(immediate), out, count);
    }
    if (!expectsReceive(qp)) {
      return unexpected(qp, false, wqe, last);
    }
    RtlReports.of(qp).received(bytes);
    int placed = bytes + CheckedReceiveRing.of(qp).skipped();
    return succeed(qp, wqe, opcode, 0, placed, 0, sourceQp, out, count);
  }

  private static boolean expectsReceive(QueuePairRings qp) {
    CheckedReceiveRing receives = CheckedReceiveRing.of(qp);
    return !receives.isFlushed() && receives.outstanding() > 0;
  }

  /** The card gives a reason for few errors. */
  @Override
  protected WcStatus status(QueuePairRings qp, boolean send, int syndrome) {
    return syndrome == 0 ? RtlReports.of(qp).unknownCause() : super.status(qp, send, syndrome);
  }

  /** The card reports errors of sends only. */
  @Override
  protected boolean isSendError(QueuePairRings qp, int wqe) {
    return true;
  }

  /** It may have been completed here before. */
  @Override
  protected int unexpected(QueuePairRings qp, boolean send, int wqe, int last) {
    return RtlReports.of(qp).takeLate(send, wqe) ? 0 : super.unexpected(qp, send, wqe, last);
  }

  @Override
  protected String unexplained(int qpn, int wqe, int last) {
    return qpn == 0 && wqe == 0 && last == 0
        ? "a completion of zeros: a zero-length message broke the card"
        : super.unexplained(qpn, wqe, last);
  }

  /** Nor does polling report a request that the driver has completed before. */
  @Override
  protected boolean isSilent(long at, int last) {
    QueuePairRings qp = queuePairs.find(Cqe.qpn(memory, at));
    return qp != null && isLate(qp, at, Cqe.wqeOffset(memory, at)) || super.isSilent(at, last);
  }

  private boolean isLate(QueuePairRings qp, long at, int wqe) {
    boolean send = isSend(at);
    boolean fits = send ? qp.sends().isOldest(wqe) : expectsReceive(qp);
    return !fits && RtlReports.of(qp).awaits(send, wqe);
  }

  private boolean isSend(long at) {
    int last = Cqe.lastDword(memory, at);
    int opcode = Cqe.opcode(last);
    return Cqe.isSend(last)
        || opcode == WqeOpcode.INVALID
        || decode.isSendError(opcode, Cqe.remoteQpn(memory, at), Cqe.byteCount(memory, at));
  }

  @Override
  public void drop(QueuePairRings qp) {
    super.drop(qp);
    seen = ring.index();
    pendingDoorbells.forget(QuotaSendRing.of(qp));
  }

  // ---- requests that wait

  /** Lets the send rings of the completions continue, and then those of any other queue. */
  @Override
  public Due takeDue() {
    boolean _ = pendingDoorbells.ringAllowed();
    return waiting;
  }

  private Due ringWaiting() {
    quota.ringWaiting();
    return null;
  }

  @Override
  public boolean continueRequests() {
    lock.lock();
    try {
      return !closed && ringUnpolled();
    } finally {
      lock.unlock();
    }
  }

  private boolean ringUnpolled() {
    int at = seen - ring.index() > 0 ? seen : ring.index();
    for (; at - ring.index() < ring.slots() && !ring.isEmpty(at); at++) {
      lookAt(at);
    }
    seen = at;
    return pendingDoorbells.ringAllowed();
  }

  private void lookAt(int at) {
    long place = ring.offset(at);
    QueuePairRings qp = queuePairs.find(Cqe.qpn(memory, place));
    if (qp == null || qp.sendCompletions() != ring || !isSend(place)) {
      return;
    }
    QuotaSendRing sends = QuotaSendRing.of(qp);
    int wqe = Cqe.wqeOffset(memory, place);
    if (Cqe.isSend(Cqe.lastDword(memory, place)) && sends.completeStep(wqe)) {
      ring.remove(at); // it does not belong to the program
      pendingDoorbells.add(sends);
    } else if (sends.completeUnpolled(wqe)) {
      pendingDoorbells.add(sends);
    }
  }

  // ---- outstanding work

  @Override
  public OutstandingWork outstandingWork(QueuePairRings qp) {
    lock.lock();
    try {
      return workOf(qp);
    } finally {
      lock.unlock();
    }
  }

  private OutstandingWork workOf(QueuePairRings qp) {
    QuotaSendRing ringed = QuotaSendRing.of(qp);
    RtlReports reports = RtlReports.of(qp);
    int sends = 0;
    int receives = 0;
    int packets = 0;
    for (int end = ring.end(), i = ring.index(); i != end; i++) {
      long at = ring.offset(i);
      if (Cqe.qpn(memory, at) != qp.number()) {
        continue;
      }
      if (isSend(at)) {
        sends++;
      } else {
        receives++;
        packets += reports.packets(Cqe.byteCount(memory, at));
      }
    }
    int outstanding = ringed.rung() + reports.awaited();
    return new OutstandingWork(
        sends,
        packets,
        outstanding - sends,
        qp.sends().tail() + sends + ringed.steps(),
        CheckedReceiveRing.of(qp).onCard() - receives,
        CheckedReceiveRing.of(qp).position(receives));
  }
}
