package org.hghca.driver;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.BthOpcode;
import org.hghca.abi.Cqe;
import org.hghca.abi.WqeOpcode;
import org.hghca.driver.card.CompletionDecode;
import org.hghca.driver.card.CompletionStatus;
import org.hghca.provider.Health;
import org.hghca.verbs.Completions;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.spi.ProviderAccess;

/**
 * Takes completions from a completion queue's ring and completes the requests that they are of. On
 * a card by the document they are what they say, {@link StandardParser}; the RTL's have to be
 * guessed at, {@link RtlParser}. Which of the two is chosen when the queue is made.
 *
 * <p>Under the completion queue's lock.
 */
abstract sealed class CompletionParser permits StandardParser, RtlParser {
  /** Where the card gives none: RC on the first RTL. */
  private static final int NO_SYNDROME = 0;

  private final String queue;
  final CompletionRing ring;
  final QpTable<QueuePairRings> queuePairs;
  final CompletionDecode decode;
  final MemorySegment memory;
  private final Health health;
  private QueuePairRings lastFound;

  /** What was found of queue pairs that share receives, until it is told to who shares. */
  private Due due;

  /** As far as receives that nobody has polled were told of. */
  private int noted;

  /** Behind what was polled last, silent completions not counted. */
  private int polledTo;

  /** How many completions were taken from the ring, silent ones included. */
  private long taken;

  /** By status, from the ring or not: those that were not successful. */
  private final long[] failures = new long[WcStatus.values().length];

  /**
   * A parser of a queue.
   *
   * @param queue what it is called in messages
   */
  CompletionParser(
      String queue,
      CompletionRing ring,
      QpTable<QueuePairRings> queuePairs,
      CompletionDecode decode,
      Health health) {
    this.queue = queue;
    this.ring = ring;
    this.queuePairs = queuePairs;
    this.decode = decode;
    this.health = health;
    this.memory = ring.memory();
  }

  /** Itself, for what is done on a card only that needs it. */
  RtlParser rtl() {
    throw new IllegalStateException("this card completes requests as the document says");
  }

  // ---- where the cards differ

  /**
   * Takes as many of the oldest completions as are quickly taken; returns how many of the caller's
   * it filled.
   */
  abstract int takeSends(int ready, Completions out, int count);

  /** Completes the oldest send of a queue pair, which has succeeded; returns 1 or 0 filled. */
  abstract int completeSend(QueuePairRings qp, int wqe, int bytes, Completions out, int count);

  /** Completes the oldest send of a queue pair, which has failed; returns 1 filled. */
  abstract int failSend(QueuePairRings qp, int status, int vendorError, Completions out, int count);

  /**
   * Completes what is marked neither as an error nor as of a send; returns how many it filled.
   *
   * @param last the last dword
   */
  abstract int completeReceive(
      QueuePairRings qp,
      int last,
      int wqe,
      int bytes,
      int immediate,
      int sourceQp,
      Completions out,
      int count);

  /** Whether a place holds what the driver has completed before, or does not tell of at all. */
  abstract boolean isLate(QueuePairRings qp, long at, int wqe);

  /** Has send rings go on with what has completed since the last time. */
  abstract void ringCompleted();

  /** Has send rings go on that wait for others. Not under the lock, nor another one. */
  abstract void ringWaiting();

  // ---- taking completions

  /** Fills completions with what stands in the ring; returns how many. */
  final int drain(Completions out, int max) {
    int from = ring.index();
    int count = 0;
    while (count < max) {
      int wanted = max - count;
      int ready = ring.ready(wanted);
      int left = ready;
      while (left > 0) {
        int first = ring.index();
        count += takeSends(left, out, count);
        if (ring.index() == first) {
          count += take(out, count);
        }
        left -= ring.index() - first;
      }
      if (ready < wanted) {
        break;
      }
    }
    int to = ring.index();
    taken += to - from;
    if (count != 0) {
      polledTo = to;
    }
    return count;
  }

  /**
   * Takes the oldest completions as long as they are of one queue pair's sends, in order, and
   * successful: nearly all are. One place after the other is read, then all are emptied, then all
   * slots are freed, so that there is no barrier between two of them.
   *
   * @param ready how many there are
   * @return how many of the caller's completions it filled
   */
  final int takeRun(int ready, Completions out, int count) {
    MemorySegment places = memory;
    int index = ring.index();
    int qpn = Cqe.qpn(places, ring.place(index));
    QueuePairRings qp = find(qpn);
    if (qp == null) {
      return 0;
    }
    SendRing sends = qp.sends();
    int tail = sends.tail();
    int most = Math.min(ready, sends.head() - tail);
    if (most == 0) {
      return 0;
    }
    int to = count;
    int run = 0;
    long at = ring.place(index);
    long end = ring.place(index + most);
    do {
      if (Cqe.qpn(places, at) != qpn
          || !Cqe.isGoodSend(Cqe.seenDword(places, at))
          || !sends.isAt(tail + run, Cqe.wqeOffset(places, at))) {
        break;
      }
      to += sends.succeed(tail + run, out, to, Cqe.byteCount(places, at));
      run++;
      at = ring.next(at);
    } while (at != end);
    if (run != 0) {
      ring.take(run);
      sends.free(tail + run);
    }
    return to - count;
  }

  /** The queue pair with a number, which is usually that of the completion before. */
  private QueuePairRings find(int qpn) {
    QueuePairRings qp = lastFound;
    if (qp == null || qp.number() != qpn) {
      qp = queuePairs.find(qpn);
      if (qp != null) {
        lastFound = qp;
      }
    }
    return qp;
  }

  /** Takes the oldest completion; returns whether it filled one of the caller's. */
  private int take(Completions out, int count) {
    long at = ring.place(ring.index());
    int last = Cqe.seenDword(memory, at);
    int qpn = Cqe.qpn(memory, at);
    int sourceQp = Cqe.remoteQpn(memory, at);
    int immediate = Cqe.immediate(memory, at);
    int bytes = Cqe.byteCount(memory, at);
    int wqe = Cqe.wqeOffset(memory, at);
    ring.take(1);
    QueuePairRings qp = find(qpn);
    if (qp == null) {
      return unexpected(qpn, wqe, last);
    }
    if (Cqe.opcode(last) == WqeOpcode.INVALID) {
      // In an error completion the dword of the immediate holds syndrome and vendor error.
      return error(qp, Cqe.isSend(last), wqe, immediate, out, count);
    }
    if (Cqe.isSend(last)) {
      return qp.sends().isOldest(wqe)
          ? completeSend(qp, wqe, bytes, out, count)
          : unexpected(qp, true, wqe, last);
    }
    return completeReceive(qp, last, wqe, bytes, immediate, sourceQp, out, count);
  }

  /**
   * Completes a receive that was expected, and succeeded.
   *
   * @param flags of {@link Completions}
   */
  final int succeed(
      QueuePairRings qp,
      int wqe,
      int opcode,
      int flags,
      int bytes,
      int immediate,
      int sourceQp,
      Completions out,
      int count) {
    Receives receives = qp.receiver();
    boolean written = BthOpcode.isWriteImmediate(opcode);
    ProviderAccess.get()
        .fill(
            out,
            count,
            receives.take(wqe),
            0,
            (written ? WcOpcode.RECV_RDMA_WITH_IMM : WcOpcode.RECV).code(),
            qp.receiveFlags() | flags,
            0,
            bytes,
            qp.number(),
            immediate,
            sourceQp);
    due = receives.due(due);
    return 1;
  }

  /**
   * Takes an error.
   *
   * @param marked whether it says that it is of a send
   * @param cause dword 10h
   */
  final int error(
      QueuePairRings qp, boolean marked, int wqe, int cause, Completions out, int count) {
    int syndrome = CompletionDecode.syndrome(cause);
    boolean send = marked || isSendError(qp, wqe);
    Receives receives = qp.receiver();
    if (!(send ? qp.sends().isOldest(wqe) : receives.expects(wqe))) {
      return unexpected(qp, send, wqe, WqeOpcode.INVALID);
    }
    WcStatus status =
        syndrome == NO_SYNDROME ? qp.errors().unknownCause(send) : CompletionStatus.of(syndrome);
    int vendorError = DriverFlush.vendorError(status, cause >>> 8 & 0xff);
    qp.errors().reported(send, status);
    int filled;
    if (send) {
      failures[status.code()]++;
      filled = failSend(qp, status.code(), vendorError, out, count);
    } else if (receives.keepsFlushed() && status == WcStatus.WR_FLUSH_ERR) {
      receives.keep(wqe);
      filled = 0;
    } else {
      failures[status.code()]++;
      int receive = WcOpcode.RECV.code();
      long wrId = receives.take(wqe);
      ProviderAccess.get()
          .fill(out, count, wrId, status.code(), receive, 0, vendorError, 0, qp.number(), 0, 0);
      filled = 1;
    }
    // Last: whoever serves a share already has to see all of this, or hear of it again.
    due = receives.due(due);
    return filled;
  }

  /**
   * The document leaves the direction out of an error completion; the software HCA marks sends.
   * Where the mark is missing the queue decides, else the element's offset; the revisions in
   * hardware report errors of sends only.
   */
  private boolean isSendError(QueuePairRings qp, int wqe) {
    if (!decode.reportsReceiveErrors()) {
      return true;
    }
    boolean sendsHere = qp.sendCompletions() == ring;
    boolean receivesHere = qp.receiveCompletions() == ring;
    if (sendsHere != receivesHere) {
      return sendsHere;
    }
    return !qp.receiver().expects(wqe);
  }

  /** A completion that fits no request, unless one that was completed here before. */
  final int unexpected(QueuePairRings qp, boolean send, int wqe, int last) {
    return qp.errors().takeLate(send, wqe) ? 0 : unexpected(qp.number(), wqe, last);
  }

  private int unexpected(int qpn, int wqe, int last) {
    if (decode.zerosBreak() && qpn == 0 && wqe == 0 && last == 0) {
      health.fail(queue + " holds a completion of zeros: a zero-length message broke the card");
      return 0;
    }
    health.fail(
        "%s holds a completion that fits no request: QPN 0x%x, WQE 0x%x, last dword 0x%08x"
            .formatted(queue, qpn, wqe, last));
    return 0;
  }

  /** Those who have to look, once the lock is free. */
  final Due takeDue() {
    Due found = due;
    if (found != null) {
      due = null;
    }
    return found;
  }

  /** The position behind what was polled last, silent completions not counted. */
  final int polledTo() {
    return polledTo;
  }

  /** Nothing was polled that anybody asks for: positions go round. */
  final void forgetPolled() {
    polledTo = ring.index();
  }

  // ---- silent completions

  /** Whether a poll would fill a completion, after silent ones at the head were taken out. */
  final boolean hasPollable() {
    while (!ring.isEmpty(ring.index())) {
      long at = ring.place(ring.index());
      int last = Cqe.lastDword(memory, at);
      if (!isSilent(at, last)) {
        return true;
      }
      take(null, 0);
      taken++;
    }
    return false;
  }

  /**
   * Whether a place holds a completion that polling keeps for itself: of an unsignalled send that
   * succeeded, or of a shared receive that was flushed and is given back, or of what the driver has
   * completed before.
   */
  private boolean isSilent(long at, int last) {
    QueuePairRings qp = queuePairs.find(Cqe.qpn(memory, at));
    if (qp == null) {
      return false;
    }
    int wqe = Cqe.wqeOffset(memory, at);
    if (isLate(qp, at, wqe)) {
      return true;
    }
    if (Cqe.opcode(last) == WqeOpcode.INVALID) {
      return qp.receiver().keepsFlushed()
          && !Cqe.isSend(last)
          && CompletionStatus.of(CompletionDecode.syndrome(Cqe.immediate(memory, at)))
              == WcStatus.WR_FLUSH_ERR
          && !isSendError(qp, wqe);
    }
    return Cqe.isSend(last) && qp.sends().isOldest(wqe) && qp.sends().isOldestSilent();
  }

  // ---- what nobody has polled

  /** Drops what a queue pair has left in the ring. */
  void drop(QueuePairRings qp) {
    for (int end = ring.end(), i = ring.index(); i != end; i++) {
      long at = ring.place(i);
      if (Cqe.qpn(memory, at) == qp.number() && isReceive(qp, at)) {
        qp.receiver().drop(Cqe.wqeOffset(memory, at));
      }
    }
    ring.removeAll(qp.number());
    noted = ring.index(); // what others have left has moved
    lastFound = null;
  }

  /** Whether a completion of a card that marks sends is one of a receive. */
  private boolean isReceive(QueuePairRings qp, long at) {
    int last = Cqe.lastDword(memory, at);
    boolean failed = Cqe.opcode(last) == WqeOpcode.INVALID;
    return !Cqe.isSend(last) && !(failed && isSendError(qp, Cqe.wqeOffset(memory, at)));
  }

  /** Tells of the receives that stand here, those that it has told of before left out. */
  final void noteReceives() {
    int end = ring.end();
    for (int i = noted - ring.index() > 0 ? noted : ring.index(); end - i > 0; i++) {
      long at = ring.place(i);
      QueuePairRings qp = queuePairs.find(Cqe.qpn(memory, at));
      if (qp != null && isReceive(qp, at)) {
        qp.receiver().note(Cqe.wqeOffset(memory, at));
      }
    }
    noted = end;
  }

  // ---- counting

  /** A completion was taken out of the ring beside {@link #drain}. */
  final void countTaken() {
    taken++;
  }

  /** How many completions were taken from the ring so far. */
  final long taken() {
    return taken;
  }

  /** By status: those that were not successful. */
  final long[] failures() {
    return failures;
  }
}
