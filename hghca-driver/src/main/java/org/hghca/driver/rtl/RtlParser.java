package org.hghca.driver.rtl;

import org.hghca.abi.Cqe;
import org.hghca.abi.WqeOpcode;
import org.hghca.driver.card.CompletionDecode;
import org.hghca.driver.completion.CompletionParser;
import org.hghca.driver.completion.CompletionRing;
import org.hghca.driver.completion.QpTable;
import org.hghca.driver.completion.QueuePairRings;
import org.hghca.driver.ring.SendRing;
import org.hghca.driver.rtl.recovery.OutstandingWork;
import org.hghca.driver.rtl.recovery.RtlReports;
import org.hghca.driver.rtl.ring.DoorbellQuota;
import org.hghca.driver.rtl.ring.QuotaSendRing;
import org.hghca.provider.Health;
import org.hghca.verbs.Completions;

/**
 * Completions of the RTL, which contain little information about receives and errors: posted
 * requests identify a receive, and an entry that matches no receive is an error. Some requests
 * complete in steps, and completions let waiting send rings continue.
 */
public final class RtlParser extends CompletionParser {
  private final DoorbellQuota inFlight;
  private final PendingDoorbells pendingDoorbells = new PendingDoorbells();

  /** The position after the last known completion, polled or not. */
  private int seen;

  private RtlParser(
      String queue,
      CompletionRing ring,
      QpTable<QueuePairRings> queuePairs,
      CompletionDecode decode,
      Health health,
      DoorbellQuota inFlight) {
    super(queue, ring, queuePairs, decode, health);
    this.inFlight = inFlight;
  }

  /**
   * A parser; a process without an RTL card does not load this class, and calls the other one
   * directly.
   */
  public static CompletionParser of(
      String queue,
      CompletionRing ring,
      QpTable<QueuePairRings> queuePairs,
      CompletionDecode decode,
      Health health,
      DoorbellQuota inFlight) {
    return new RtlParser(queue, ring, queuePairs, decode, health, inFlight);
  }

  @Override
  public RtlParser rtl() {
    return this;
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
      QueuePairRings qp, int status, int vendorError, Completions out, int count) {
    QuotaSendRing sends = qp.budgetedSends();
    int filled = sends.complete(out, count, status, vendorError, 0);
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
      return error(qp, true, wqe, immediate, out, count);
    }
    if (!expectsReceive(qp)) {
      return unexpected(qp, false, wqe, last);
    }
    qp.errors().rtl().received(bytes);
    int flags = decode.immediateFlags(opcode);
    int placed = bytes + qp.bytesBeforeReceived();
    return succeed(qp, wqe, opcode, flags, placed, 0, sourceQp, out, count);
  }

  private static boolean expectsReceive(QueuePairRings qp) {
    return !qp.receives().isFlushed() && qp.receives().outstanding() > 0;
  }

  @Override
  protected boolean isLate(QueuePairRings qp, long at, int wqe) {
    boolean send = isSend(at);
    boolean fits = send ? qp.sends().isOldest(wqe) : expectsReceive(qp);
    return !fits && qp.errors().rtl().awaits(send, wqe);
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
    pendingDoorbells.forget(qp.budgetedSends());
  }

  // ---- requests that wait

  @Override
  public void ringCompleted() {
    boolean _ = pendingDoorbells.ring();
  }

  @Override
  public void ringWaiting() {
    inFlight.ringWaiting();
  }

  /**
   * Rings for requests that wait for others with unpolled completions here.
   *
   * @return whether there were new completions
   */
  public boolean goOn() {
    int at = seen - ring.index() > 0 ? seen : ring.index();
    for (; at - ring.index() < ring.slots() && !ring.isEmpty(at); at++) {
      lookAt(at);
    }
    seen = at;
    return pendingDoorbells.ring();
  }

  private void lookAt(int at) {
    long place = ring.place(at);
    QueuePairRings qp = queuePairs.find(Cqe.qpn(memory, place));
    if (qp == null || qp.sendCompletions() != ring || !isSend(place)) {
      return;
    }
    QuotaSendRing sends = qp.budgetedSends();
    int wqe = Cqe.wqeOffset(memory, place);
    if (Cqe.isSend(Cqe.lastDword(memory, place)) && sends.completeStep(wqe)) {
      ring.remove(at); // it does not belong to the program
      pendingDoorbells.add(sends);
    } else if (sends.completeUnpolled(wqe)) {
      pendingDoorbells.add(sends);
    }
  }

  // ---- what stands here

  /**
   * The unpolled completions of a queue pair here, and the progress of its sends, if they complete
   * here.
   */
  public OutstandingWork outstandingWork(QueuePairRings qp) {
    QuotaSendRing ringed = qp.budgetedSends();
    RtlReports reports = qp.errors().rtl();
    int sends = 0;
    int receives = 0;
    int packets = 0;
    for (int end = ring.end(), i = ring.index(); i != end; i++) {
      long at = ring.place(i);
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
        qp.receives().onCard() - receives,
        qp.receives().position(receives));
  }
}
