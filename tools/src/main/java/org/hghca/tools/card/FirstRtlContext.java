package org.hghca.tools.card;

import static org.hghca.abi.QueuePairContext.LAST_ACKED_PSN;
import static org.hghca.abi.QueuePairContext.LOCAL_QPN;
import static org.hghca.abi.QueuePairContext.NEXT_RECEIVE_PSN;
import static org.hghca.abi.QueuePairContext.NEXT_SEND_PSN;
import static org.hghca.abi.QueuePairContext.QKEY;
import static org.hghca.abi.QueuePairContext.SEND_CQN;
import static org.hghca.abi.QueuePairContext.STATE;
import static org.hghca.abi.QueuePairContext.WQE_BASE;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.Set;
import org.hghca.abi.MailboxField;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.tools.card.fields.Fields;
import org.hghca.tools.card.fields.Shown;

/**
 * What is true of an answer of the first RTL to QUERY_QP. Traffic changes the state at 17h[7:4] and
 * the sequence numbers at 60h, 70h and 98h, over other fields; the fields of these values keep what
 * was written, and A0h to BBh are old bytes.
 */
final class FirstRtlContext {
  private static final int STALE_FIRST = 0xa0;
  private static final int STALE_END = 0xbc;
  private static final int PSN_MASK = 0xff_ffff;
  private static final String NOT_KNOWN = "not known: ";

  /** Those that are covered by others, and those that stay as written. */
  private static final Set<MailboxField> UNTRUE =
      Set.of(
          STATE,
          LOCAL_QPN,
          WQE_BASE,
          SEND_CQN,
          QKEY,
          NEXT_SEND_PSN,
          LAST_ACKED_PSN,
          NEXT_RECEIVE_PSN);

  private final MemorySegment answer;
  private final int number;
  private final Optional<MemorySegment> sent;

  /**
   * An answer.
   *
   * @param number of the queue pair
   * @param sent the last context that was sent; empty when none was
   */
  FirstRtlContext(MemorySegment answer, int number, Optional<MemorySegment> sent) {
    this.answer = answer;
    this.number = number;
    this.sent = sent;
  }

  /** The values that are true of the card. */
  Fields fields() {
    Fields fields = new Fields();
    fields.put("state", state());
    fields.put("next_send_psn", psn(SEND_CQN));
    fields.put("oldest_unacked_psn", psn(WQE_BASE));
    fields.put("next_recv_psn", psn(QKEY));
    for (MailboxField field : QueuePairContext.LAYOUT.fields()) {
      boolean stale = field.offset() >= STALE_FIRST && field.offset() < STALE_END;
      if (!stale && !UNTRUE.contains(field)) {
        fields.put(field.name(), MailboxText.value(field, answer));
      }
    }
    return fields;
  }

  /** A state that was written back leaves the low bits of the field of the number zero. */
  private Object state() {
    int shown = LOCAL_QPN.get(answer) & 0xff;
    int written = STATE.get(answer);
    int state = shown >>> 4;
    boolean changed = (shown & 0xf) == 0 && state <= QpcState.ERR;
    if (!changed) {
      return Shown.named(written, QpcState.name(written));
    }
    boolean perhapsNumber = shown == (number & 0xff);
    return perhapsNumber && state != written
        ? NOT_KNOWN + "its place holds %02xh, a state or the number".formatted(shown)
        : Shown.named(state, QpcState.name(state));
  }

  /** A sequence number where another field was: the card's once it differs from what was sent. */
  private Object psn(MailboxField covered) {
    if (sent.isEmpty()) {
      return NOT_KNOWN + "this session has not sent the context";
    }
    int seen = covered.get(answer);
    return seen == covered.get(sent.get())
        ? NOT_KNOWN + "no packet has changed it"
        : Shown.number(seen & PSN_MASK);
  }
}
