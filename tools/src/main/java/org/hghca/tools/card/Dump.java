package org.hghca.tools.card;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.HcrCommand;
import org.hghca.icm.IcmTable;
import org.hghca.tools.card.fields.Fields;
import org.hghca.tools.card.fields.Shown;
import org.hghca.tools.launch.Nearest;
import org.hghca.tools.raw.CardObject;
import org.hghca.tools.raw.SentContexts;

/**
 * {@code dump}: a context as it was sent last, under "driver", and as the card says it, under
 * "card", with what contradicts; or the ring of a queue.
 */
final class Dump {
  static final String USAGE = "dump qp|cq|eq|mpt|srq NUMBER";

  private static final String RING = "ring";
  private static final int NUMBER_BITS = 24;
  private static final int MOST_NUMBERS = 16;
  private static final String NOT_KNOWN = "not known: ";

  private final Card card;

  Dump(Card card) {
    this.card = card;
  }

  /** Dumps what a line names. */
  void run(Words words, Fields reply) {
    boolean ring = words.peek().equalsIgnoreCase(RING);
    if (ring) {
      words.next();
    }
    String usage = ring ? RingDump.USAGE : USAGE;
    CardObject object = object(words.next("an object is missing: " + usage), usage);
    int number =
        Numbers.parseInt(
            "the number of the " + object,
            words.next("a number is missing: " + usage + known(object)),
            NUMBER_BITS);
    SlotRange range = ring ? SlotRange.of(words) : SlotRange.ALL;
    words.end(usage);
    if (!card.history().pages().isLaidOut()) {
      throw new RequestFailedException("dump needs tables that are mapped: init comes first");
    }
    if (card.profile().isEmpty()) {
      throw new RequestFailedException("dump needs a profile: probe, or --profile, tells it");
    }
    if (ring) {
      new RingDump(card).run(object, number, range, reply);
    } else {
      context(object, number, reply);
    }
  }

  /** The numbers that were given to the card, the highest last. */
  private String known(CardObject object) {
    List<String> numbers =
        card.history().sent().inForce(object).stream().map(String::valueOf).toList();
    int first = Math.max(0, numbers.size() - MOST_NUMBERS);
    return numbers.isEmpty()
        ? ""
        : "; the card has %s%s"
            .formatted(
                first > 0 ? "..., " : "",
                String.join(", ", numbers.subList(first, numbers.size())));
  }

  private static CardObject object(String word, String usage) {
    List<String> names = Arrays.stream(CardObject.values()).map(CardObject::toString).toList();
    String lower = word.toLowerCase(Locale.ROOT);
    if (!names.contains(lower)) {
      throw new RequestFailedException(
          "dump knows no '%s': the nearest is %s; %s"
              .formatted(word, Nearest.of(word, names), usage));
    }
    return CardObject.values()[names.indexOf(lower)];
  }

  /** What was sent comes first: the card may stop at the question. */
  private void context(CardObject object, int number, Fields reply) {
    reply.put("object", object.toString());
    reply.put("number", number);
    reply.put("table", "%s (%s)".formatted(object.layout().source(), object.layout().name()));
    Optional<SentContexts.Sent> sent = card.history().sent().of(object, number);
    Fields driver = sent.map(last -> driver(object, last)).orElse(new Fields());
    reply.put("driver", driver.isEmpty() ? "nothing sent by this session" : driver);
    Object answer = card(object, number, sent);
    reply.put("card", answer instanceof Fields fields ? beside(fields, driver) : answer);
    Contradictions contradictions = new Contradictions(card);
    if (answer instanceof Fields fields && sent.isPresent() && sent.get().inbox().length != 0) {
      contradictions.compare(object, fields, driver);
    }
    sent.filter(SentContexts.Sent::isInForce)
        .flatMap(SentContexts.Sent::wholeContext)
        .ifPresent(body -> contradictions.check(object, number, body));
    reply.put("inconsistent", Shown.lines(contradictions.found()));
  }

  /** What the card has answered; as text without the fields that are as they were sent. */
  private static Shown beside(Fields answer, Fields driver) {
    Fields other = answer.without(driver);
    List<String> lines = new ArrayList<>(other.lines());
    int same = answer.size() - other.size();
    if (same > 0) {
      lines.add("%d fields as they were sent".formatted(same));
    }
    return new Shown(answer.json(), lines);
  }

  private Object card(CardObject object, int number, Optional<SentContexts.Sent> sent) {
    HardwareProfile profile = card.profile().orElseThrow();
    return switch (object) {
      case QP -> queuePair(profile, number, sent);
      case SRQ ->
          profile == HardwareProfile.S
              ? MailboxText.of(object.layout(), ask(HcrCommand.QUERY_SRQ, number))
              : NOT_KNOWN + "profile %s has no shared receive queues".formatted(profile);
      case CQ, EQ, MPT -> NOT_KNOWN + "no command returns its context";
    };
  }

  private Object queuePair(HardwareProfile profile, int number, Optional<SentContexts.Sent> sent) {
    if (!profile.queryQpReliable() && !profile.misplacesSequenceNumbers()) {
      return NOT_KNOWN
          + "QUERY_QP of profile %s answers nothing usable (docs/hardware.md)".formatted(profile);
    }
    boolean mapped = card.history().pages().holds(IcmTable.QPC, number, profile);
    if (profile != HardwareProfile.S && !mapped) {
      return NOT_KNOWN
          + "the page of its context is not mapped, and QUERY_QP would hang (docs/hardware.md)";
    }
    MemorySegment answer = ask(HcrCommand.QUERY_QP, number);
    return profile.queryQpReliable()
        ? MailboxText.of(CardObject.QP.layout(), answer)
        : new FirstRtlContext(answer, number, sent.flatMap(SentContexts.Sent::wholeContext))
            .fields();
  }

  private MemorySegment ask(HcrCommand command, int number) {
    HcrRun.End end = new HcrRun(card).query(command, number);
    if (!end.isOk()) {
      throw new RequestFailedException(
          "%s of %d ended with status %s".formatted(command, number, end.describe()));
    }
    return MemorySegment.ofArray(end.outbox());
  }

  private static Fields driver(CardObject object, SentContexts.Sent sent) {
    Fields fields = new Fields().put("command", sent.command().name());
    fields.put("in_force", sent.isInForce());
    sent.wholeContext().ifPresent(body -> fields.putAll(MailboxText.of(object.layout(), body)));
    return fields;
  }
}
