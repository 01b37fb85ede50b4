package org.hghca.driver.rtl.recovery;

import static org.hghca.abi.QueuePairContext.LAST_ACKED_PSN;
import static org.hghca.abi.QueuePairContext.LOCAL_QPN;
import static org.hghca.abi.QueuePairContext.NEXT_RECEIVE_PSN;
import static org.hghca.abi.QueuePairContext.NEXT_SEND_PSN;
import static org.hghca.abi.QueuePairContext.QKEY;
import static org.hghca.abi.QueuePairContext.SEND_CQN;
import static org.hghca.abi.QueuePairContext.STATE;
import static org.hghca.abi.QueuePairContext.WQE_BASE;

import org.hghca.abi.MailboxField;
import org.hghca.abi.QueuePairContext;
import org.hghca.mailbox.CommandInterface;
import org.hghca.vfio.TimeScale;

/**
 * The current sequence numbers of a queue pair of the first RTL. That card writes three sequence
 * numbers and the state back to its copy of the context, at the wrong offsets, so that QUERY_QP
 * returns them in other fields: the oldest unacknowledged PSN at 60h, the next PSN at 70h, the
 * expected one at 98h and the state at 17h[7:4]. The rest of QUERY_QP is the content of the last
 * MODIFY_QP.
 *
 * @param nextSend PSN of the next packet sent
 * @param oldestUnacked oldest PSN sent and not acknowledged; that of {@code nextSend} when all are
 * @param expected PSN of the next packet taken
 * @param state the card's number of the state, or {@link #UNKNOWN}
 */
public record LivePsns(int nextSend, int oldestUnacked, int expected, int state) {
  /** The state is indistinguishable from the value written before. */
  public static final int UNKNOWN = -1;

  /** No PSN: a marker in the field until the card writes a PSN. */
  private static final int UNWRITTEN = -1;

  private static final int PSN_MASK = 0xff_ffff;

  /** The states in which the card starts a rung request, unless it has stopped sending. */
  private static final long HEARD_NANOS = 500_000;

  private static final int LAST_STATE = 6;

  /**
   * A context for the card: dwords that the RTL does not use hold a marker, so that an overwritten
   * one is detected.
   */
  static QueuePairContext marked(QueuePairContext context) {
    return context.copy().set(WQE_BASE, UNWRITTEN).set(QKEY, UNWRITTEN);
  }

  /**
   * Queries the card. Only for a queue pair that MODIFY_QP has named: without a mapped page for its
   * context the command never completes.
   *
   * @param time the card's time scale
   * @param programmed the context of the last MODIFY_QP
   * @param rung whether a doorbell was rung since then
   */
  public static LivePsns read(
      CommandInterface commands,
      TimeScale time,
      int qpn,
      QueuePairContext programmed,
      boolean rung) {
    QueuePairContext answer = commands.queryQp(qpn);
    long start = time.nanoTime();
    while (rung && !showsSends(answer, programmed) && time.nanoTime() - start < HEARD_NANOS) {
      answer = commands.queryQp(qpn);
    }
    return of(answer, programmed, rung);
  }

  /** Whether the card has sent or answered anything since MODIFY_QP. */
  private static boolean showsSends(QueuePairContext answer, QueuePairContext programmed) {
    return answer.get(WQE_BASE) != UNWRITTEN || answer.get(SEND_CQN) != programmed.get(SEND_CQN);
  }

  /** The result of a query. */
  static LivePsns of(QueuePairContext answer, QueuePairContext programmed, boolean rung) {
    boolean acknowledged = answer.get(WQE_BASE) != UNWRITTEN;
    boolean received = answer.get(QKEY) != UNWRITTEN;
    // If the field holds the number of the completion queue, either the card has not processed a
    // doorbell yet, or that number is the card's current PSN: then it is ahead.
    boolean sent =
        showsSends(answer, programmed)
            || rung && isAhead(programmed.get(SEND_CQN), programmed.get(NEXT_SEND_PSN));
    return new LivePsns(
        psn(sent, answer, SEND_CQN, programmed, NEXT_SEND_PSN),
        psn(acknowledged, answer, WQE_BASE, programmed, LAST_ACKED_PSN),
        psn(received, answer, QKEY, programmed, NEXT_RECEIVE_PSN),
        state(answer, programmed));
  }

  private static boolean isAhead(int psn, int of) {
    return (psn - of & PSN_MASK) <= PSN_MASK >>> 1;
  }

  private static int psn(
      boolean written,
      QueuePairContext answer,
      MailboxField misplaced,
      QueuePairContext programmed,
      MailboxField given) {
    return (written ? answer.get(misplaced) : programmed.get(given)) & PSN_MASK;
  }

  /** A state that was written back leaves the low bits of the QPN field zero. */
  private static int state(QueuePairContext answer, QueuePairContext programmed) {
    int shown = answer.get(LOCAL_QPN) & 0xff;
    int given = programmed.get(STATE);
    if ((shown & 0xf) != 0 || shown >>> 4 > LAST_STATE) {
      return given;
    }
    boolean perhapsQpn = shown == (programmed.get(LOCAL_QPN) & 0xff);
    return perhapsQpn && shown >>> 4 != given ? UNKNOWN : shown >>> 4;
  }

  /** Makes the next MODIFY_QP continue from the card's current state. */
  public void putInto(QueuePairContext next) {
    next.set(NEXT_SEND_PSN, nextSend);
    next.set(LAST_ACKED_PSN, oldestUnacked);
    next.set(NEXT_RECEIVE_PSN, expected);
  }
}
