package org.hghca.driver.completion;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.hghca.abi.BthOpcode;
import org.hghca.abi.Cqe;
import org.hghca.abi.WqeOpcode;
import org.hghca.driver.card.CompletionStatus;
import org.hghca.driver.ring.Receives;
import org.hghca.driver.ring.SendRing;
import org.hghca.provider.Health;
import org.hghca.provider.srq.Due;
import org.hghca.verbs.Completions;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.spi.ProviderAccess;

/**
 * Takes completions from a completion queue's ring and completes their requests: {@link
 * DocumentParser} where they say all, as the document has it. The device's card family selects the
 * parser when the queue is created.
 *
 * <p>Under the completion queue's lock.
 */
public abstract class CompletionParser {
  /** In place of a number of filled entries: the ring holds no completion. */
  private static final int NONE = -1;

  private final String queue;
  protected final CompletionRing ring;
  protected final QpTable<QueuePairRings> queuePairs;
  protected final MemorySegment memory;
  private final Health health;
  private QueuePairRings lastFound;

  /** Completions of queue pairs that share receives, until the shared queue is notified. */
  private Due due;

  /** The position up to which unpolled receives were reported. */
  private int noted;

  /** The position after the last polled completion, not counting silent ones. */
  private int polledTo;

  /** Unsuccessful completions by status, from the ring or not. */
  private final long[] failures = new long[WcStatus.values().length];

  /**
   * A parser of a queue.
   *
   * @param queue its name in messages
   */
  protected CompletionParser(
      String queue, CompletionRing ring, QpTable<QueuePairRings> queuePairs, Health health) {
    this.queue = queue;
    this.ring = ring;
    this.queuePairs = queuePairs;
    this.health = health;
    this.memory = ring.memory();
  }

  // ---- differences between cards

  /** Completes the oldest send of a ring, which has succeeded; returns 1 or 0 filled. */
  protected abstract int completeSend(
      SendRing sends, int wqe, int bytes, Completions out, int count);

  /** Completes the oldest send of a queue pair, which has failed; returns 1 filled. */
  protected abstract int failSend(
      QueuePairRings qp, WcStatus status, int vendorError, Completions out, int count);

  /**
   * Completes an entry that is marked neither as an error nor as a send: by the document, a
   * receive. Returns the number of entries filled.
   *
   * @param last the last dword
   */
  protected abstract int completeReceive(
      QueuePairRings qp,
      int last,
      int wqe,
      int bytes,
      int immediate,
      int sourceQp,
      Completions out,
      int count);

  /** The queue is closed: nothing reads its ring any more. */
  public abstract void close();

  // ---- taking completions

  /**
   * Fills completions from the ring; returns their number. The queue is open.
   *
   * @param max at most the capacity
   */
  public final int drain(Completions out, int max) {
    // The first one without a loop, whose set-up would cost as much as a completion.
    int count = max == 0 ? NONE : takeNext(out, 0);
    if (count == NONE) {
      return 0;
    }
    if (count < max) {
      count = drainOn(out, count, max);
    }
    if (count != 0) {
      polledTo = ring.index();
    }
    return count;
  }

  private int drainOn(Completions out, int first, int max) {
    int count = first;
    while (count < max) {
      int filled = takeNext(out, count);
      if (filled == NONE) {
        break;
      }
      count += filled;
    }
    return count;
  }

  /**
   * Takes the oldest completion, if there is one: the common cases, a success of a queue pair's
   * oldest send or of a receive, at once. The queue is open.
   *
   * @return number of entries filled, or {@link #NONE}
   */
  private int takeNext(Completions out, int count) {
    CompletionRing ring = this.ring;
    MemorySegment segment = ring.segment();
    long at = ring.at(ring.index());
    int last = Cqe.plainLastDword(segment, at);
    VarHandle.acquireFence(); // the owner byte is read before the entry that it guards
    if (Cqe.isGoodSend(last)) {
      QueuePairRings qp = find(Cqe.qpn(segment, at));
      if (qp != null) {
        SendRing sends = qp.sends();
        int wqe = Cqe.wqeOffset(segment, at);
        if (sends.isOldest(wqe)) {
          int bytes = Cqe.byteCount(segment, at);
          ring.take(segment, at);
          return completeSend(sends, wqe, bytes, out, count);
        }
      }
    } else if (Cqe.isGoodReceive(last)) {
      QueuePairRings qp = find(Cqe.qpn(segment, at));
      if (qp != null) {
        return takeReceive(qp, at, last, out, count);
      }
    } else if (Cqe.owner(last) == Cqe.SENTINEL) {
      return NONE;
    }
    return take(segment, at, last, out, count);
  }

  private int takeReceive(QueuePairRings qp, long at, int last, Completions out, int count) {
    MemorySegment segment = ring.segment(); // here, so that the compiler sees a constant
    int sourceQp = Cqe.remoteQpn(segment, at);
    int immediate = Cqe.immediate(segment, at);
    int bytes = Cqe.byteCount(segment, at);
    int wqe = Cqe.wqeOffset(segment, at);
    ring.take(segment, at);
    return completeReceive(qp, last, wqe, bytes, immediate, sourceQp, out, count);
  }

  /** The queue pair with a number, which is usually that of the previous completion. */
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

  /**
   * Takes the oldest completion; returns the number of entries filled.
   *
   * @param segment what has it: that of {@link CompletionRing#memory} or {@link
   *     CompletionRing#segment}
   * @param at where it is there
   * @param last its last dword, which was read first
   */
  private int take(MemorySegment segment, long at, int last, Completions out, int count) {
    int qpn = Cqe.qpn(segment, at);
    int sourceQp = Cqe.remoteQpn(segment, at);
    int immediate = Cqe.immediate(segment, at);
    int bytes = Cqe.byteCount(segment, at);
    int wqe = Cqe.wqeOffset(segment, at);
    ring.take(segment, at);
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
          ? completeSend(qp.sends(), wqe, bytes, out, count)
          : unexpected(qp, true, wqe, last);
    }
    return completeReceive(qp, last, wqe, bytes, immediate, sourceQp, out, count);
  }

  /**
   * Completes a receive that was expected, and succeeded.
   *
   * @param flags of {@link Completions}
   */
  protected final int succeed(
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
    int code = (written ? WcOpcode.RECV_RDMA_WITH_IMM : WcOpcode.RECV).code();
    ProviderAccess access = ProviderAccess.get();
    access.fill(out, count, receives.take(wqe, bytes), 0, code, 0, qp.number());
    access.fillMessage(out, count, bytes, qp.receiveFlags() | flags, immediate, sourceQp);
    due = receives.due(due);
    return 1;
  }

  /**
   * Takes an error.
   *
   * @param marked whether it is marked as a send
   * @param cause dword 10h
   */
  protected final int error(
      QueuePairRings qp, boolean marked, int wqe, int cause, Completions out, int count) {
    boolean send = marked || isSendError(qp, wqe);
    Receives receives = qp.receiver();
    if (!(send ? qp.sends().isOldest(wqe) : receives.expects(wqe))) {
      return unexpected(qp, send, wqe, WqeOpcode.INVALID);
    }
    WcStatus status = status(qp, send, CompletionStatus.syndrome(cause));
    int vendorError = cause >>> 8 & 0xff;
    qp.errors().reported(send, status);
    qp.countFailure(status);
    int filled;
    if (send) {
      failures[status.code()]++;
      filled = failSend(qp, status, vendorError, out, count);
    } else if (receives.keepsFlushed() && status == WcStatus.WR_FLUSH_ERR) {
      receives.keep(wqe);
      filled = 0;
    } else {
      failures[status.code()]++;
      int receive = WcOpcode.RECV.code();
      long wrId = receives.take(wqe, 0);
      ProviderAccess.get().fill(out, count, wrId, status.code(), receive, vendorError, qp.number());
      filled = 1;
    }
    // Last: a thread that already serves the share must see all of this, or is notified again.
    due = receives.due(due);
    return filled;
  }

  /** The status of a request that has failed. */
  protected WcStatus status(QueuePairRings qp, boolean send, int syndrome) {
    return CompletionStatus.of(syndrome);
  }

  /**
   * The document leaves the direction out of an error completion; the software HCA marks sends. If
   * the mark is missing, the queue decides, else the element's offset.
   */
  protected boolean isSendError(QueuePairRings qp, int wqe) {
    boolean sendsHere = qp.sendCompletions() == ring;
    boolean receivesHere = qp.receiveCompletions() == ring;
    if (sendsHere != receivesHere) {
      return sendsHere;
    }
    return !qp.receiver().expects(wqe);
  }

  /** A completion without a matching request: the card has failed. */
  protected int unexpected(QueuePairRings qp, boolean send, int wqe, int last) {
    return unexpected(qp.number(), wqe, last);
  }

  private int unexpected(int qpn, int wqe, int last) {
    health.fail("%s holds %s".formatted(queue, unexplained(qpn, wqe, last)));
    return 0;
  }

  /** What a completion without a matching request is, for the message. */
  protected String unexplained(int qpn, int wqe, int last) {
    return "a completion that fits no request: QPN 0x%x, WQE 0x%x, last dword 0x%08x"
        .formatted(qpn, wqe, last);
  }

  /**
   * The objects to notify after the lock is released; null for none. Ends each visit of the queue
   * in which completions may have been taken.
   */
  public Due takeDue() {
    Due found = due;
    if (found != null) {
      due = null;
    }
    return found;
  }

  /** The position after the last polled completion, not counting silent ones. */
  protected final int polledTo() {
    return polledTo;
  }

  /** Forgets the polled position, because positions wrap. */
  final void forgetPolled() {
    polledTo = ring.index();
  }

  // ---- silent completions

  /** Whether a poll would fill a completion, after removing silent ones at the head. */
  final boolean hasPollable() {
    while (!ring.isEmpty(ring.index())) {
      long at = ring.offset(ring.index());
      int last = Cqe.lastDword(memory, at);
      if (!isSilent(at, last)) {
        return true;
      }
      int _ = take(memory, at, last, null, 0);
    }
    return false;
  }

  /**
   * Whether an entry is a completion that polling does not report: of a successful unsignaled send,
   * or of a flushed shared receive that is returned.
   */
  protected boolean isSilent(long at, int last) {
    QueuePairRings qp = queuePairs.find(Cqe.qpn(memory, at));
    if (qp == null) {
      return false;
    }
    int wqe = Cqe.wqeOffset(memory, at);
    if (Cqe.opcode(last) == WqeOpcode.INVALID) {
      return qp.receiver().keepsFlushed()
          && !Cqe.isSend(last)
          && CompletionStatus.of(CompletionStatus.syndrome(Cqe.immediate(memory, at)))
              == WcStatus.WR_FLUSH_ERR
          && !isSendError(qp, wqe);
    }
    return Cqe.isSend(last) && qp.sends().isOldest(wqe) && qp.sends().isOldestSilent();
  }

  // ---- unpolled completions

  /** Drops the remaining completions of a queue pair in the ring. */
  public void drop(QueuePairRings qp) {
    for (int end = ring.end(), i = ring.index(); i != end; i++) {
      long at = ring.offset(i);
      if (Cqe.qpn(memory, at) == qp.number() && isReceive(qp, at)) {
        qp.receiver().drop(Cqe.wqeOffset(memory, at));
      }
    }
    ring.removeAll(qp.number());
    noted = ring.index(); // the entries of others have moved
    lastFound = null;
  }

  /** Whether a completion of a card that marks sends belongs to a receive. */
  private boolean isReceive(QueuePairRings qp, long at) {
    int last = Cqe.lastDword(memory, at);
    boolean failed = Cqe.opcode(last) == WqeOpcode.INVALID;
    return !Cqe.isSend(last) && !(failed && isSendError(qp, Cqe.wqeOffset(memory, at)));
  }

  /** Reports the receives in the ring, except those already reported. */
  public final void noteReceives() {
    int end = ring.end();
    for (int i = noted - ring.index() > 0 ? noted : ring.index(); end - i > 0; i++) {
      long at = ring.offset(i);
      QueuePairRings qp = queuePairs.find(Cqe.qpn(memory, at));
      if (qp != null && isReceive(qp, at)) {
        qp.receiver().note(Cqe.wqeOffset(memory, at));
      }
    }
    noted = end;
  }

  // ---- counting

  /** Unsuccessful completions by status. */
  public final long[] failures() {
    return failures;
  }
}
