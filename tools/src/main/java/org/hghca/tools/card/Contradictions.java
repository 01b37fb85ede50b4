package org.hghca.tools.card;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.EventQueueContext;
import org.hghca.abi.MailboxField;
import org.hghca.abi.Mpt;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.SrqContext;
import org.hghca.tools.card.fields.Fields;
import org.hghca.tools.card.fields.Shown;
import org.hghca.tools.card.ring.KeyMemory;
import org.hghca.tools.raw.CardObject;
import org.hghca.tools.raw.SentContexts;

/** What does not fit in a context: with the card's answer, and with other contexts. */
final class Contradictions {
  /** Those that the card changes, or that say what a command changes. */
  private static final Set<MailboxField> MOVING =
      Set.of(
          QueuePairContext.OPT_PARAM_MASK,
          QueuePairContext.NEXT_SEND_PSN,
          QueuePairContext.LAST_ACKED_PSN,
          QueuePairContext.NEXT_RECEIVE_PSN,
          QueuePairContext.SSN,
          QueuePairContext.RMSN,
          QueuePairContext.RA_BUFF_INDEX,
          QueuePairContext.MIGRATION,
          QueuePairContext.RQ_WQE_COUNTER,
          QueuePairContext.SQ_WQE_COUNTER,
          SrqContext.STATE,
          SrqContext.LIMIT,
          SrqContext.POSTED,
          SrqContext.TAKEN);

  private final Card card;
  private final KeyMemory keys;
  private final List<String> found = new ArrayList<>();

  Contradictions(Card card) {
    this.card = card;
    this.keys = new KeyMemory(card.function(), card.profile().orElseThrow());
  }

  /** What was found, one a line. */
  List<String> found() {
    return found;
  }

  /**
   * Fields that the card answers otherwise than they were sent last.
   *
   * @param answer what is true of the card, by the names of the fields
   */
  void compare(CardObject object, Fields answer, Fields sent) {
    for (MailboxField field : object.layout().fields()) {
      boolean both = answer.has(field.name()) && sent.has(field.name());
      if (both && !MOVING.contains(field)) {
        Object card = answer.get(field.name());
        Object driver = sent.get(field.name());
        if (card instanceof Shown && !card.equals(driver)) {
          found.add(
              "%s: card %s, driver %s"
                  .formatted(field.name(), Fields.text(card), Fields.text(driver)));
        }
      }
    }
  }

  /** What a context names and does not exist as it needs it. */
  void check(CardObject object, int number, MemorySegment body) {
    switch (object) {
      case QP -> queuePair(number, body);
      case CQ -> {
        CompletionQueueContext context = CompletionQueueContext.decode(body);
        number("cqn", context.cqn(), number);
        key("lkey", context.lkey(), context.pd());
        if (context.compEqn() != 0) {
          needs("comp_eqn", CardObject.EQ, context.compEqn());
        }
      }
      case EQ -> {
        EventQueueContext context = EventQueueContext.decode(body);
        key("lkey", context.lkey(), context.pd());
      }
      case MPT -> entry(number, Mpt.decode(body));
      case SRQ -> {
        SrqContext context = SrqContext.decode(body);
        number("srqn", context.srqn(), number);
        key("lkey", context.lkey(), context.pd());
      }
    }
  }

  private void queuePair(int number, MemorySegment body) {
    number("local_qpn", QueuePairContext.LOCAL_QPN.get(body), number);
    int pd = QueuePairContext.PD.get(body);
    needs("cqn_snd", CardObject.CQ, QueuePairContext.SEND_CQN.get(body));
    needs("cqn_rcv", CardObject.CQ, QueuePairContext.RECEIVE_CQN.get(body));
    key("snd_wqe_base_l", QueuePairContext.SEND_WQE_LKEY.get(body), pd);
    if (QueuePairContext.HAS_SRQ.get(body) == 1) {
      needs("srqn", CardObject.SRQ, QueuePairContext.SRQN.get(body));
    } else {
      key("rcv_wqe_base_l", QueuePairContext.RECEIVE_WQE_LKEY.get(body), pd);
    }
  }

  private void entry(int number, Mpt mpt) {
    if (keys.index(mpt.key()) != number) {
      found.add(
          "key: 0x%08x names the entry %d, not %d"
              .formatted(mpt.key(), keys.index(mpt.key()), number));
    }
    keys.firstUntranslated(mpt)
        .ifPresent(entry -> found.add("mtt_seg: MTT entry %d was not sent".formatted(entry)));
  }

  private void number(String field, int sent, int number) {
    if (sent != number) {
      found.add("%s: %d, and the command was for %d".formatted(field, sent, number));
    }
  }

  private void needs(String field, CardObject object, int number) {
    boolean there =
        card.history().sent().of(object, number).filter(SentContexts.Sent::isInForce).isPresent();
    if (!there) {
      found.add("%s: %s %d is not in force".formatted(field, object.name(), number));
    }
  }

  private void key(String field, int key, int pd) {
    keys.entryProblems(key, pd).forEach(problem -> found.add(field + ": " + problem));
  }
}
