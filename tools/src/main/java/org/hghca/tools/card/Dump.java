package org.hghca.tools.card;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.ResizeCq;
import org.hghca.icm.IcmTable;

/**
 * {@code dump}: a context, as the card says it and as this session has sent it, each under its own
 * name.
 */
final class Dump {
  static final String USAGE = "dump qp|cq|eq|mpt NUMBER";

  private static final int NUMBER_BITS = 24;
  private static final String NOT_KNOWN = "not known: ";

  private final Card card;

  Dump(Card card) {
    this.card = card;
  }

  /** Dumps the object of a line. */
  void run(Words words, Fields reply) {
    CardObject object = object(words.next("an object is missing: " + USAGE));
    int number =
        Numbers.parseInt(
            "the number of the " + object,
            words.next("a number is missing: " + USAGE),
            NUMBER_BITS);
    words.end(USAGE);
    if (!card.isInitialized()) {
      throw new RequestFailedException("dump needs tables that are mapped: init comes first");
    }
    reply.put("object", object.toString());
    reply.put("number", number);
    Optional<SentContexts.Sent> sent = card.sent().of(object, number);
    reply.put("card", card(object, number, sent));
    reply.put("driver", driver(object, sent));
    if (object != CardObject.MPT) {
      reply.put("rings", NOT_KNOWN + "this session does not own their memory");
    }
  }

  private static CardObject object(String word) {
    List<String> names = Arrays.stream(CardObject.values()).map(CardObject::toString).toList();
    String lower = word.toLowerCase(Locale.ROOT);
    if (!names.contains(lower)) {
      throw new RequestFailedException(
          "dump knows no '%s': the nearest is %s; %s"
              .formatted(word, Nearest.of(word, names), USAGE));
    }
    return CardObject.values()[names.indexOf(lower)];
  }

  private Object card(CardObject object, int number, Optional<SentContexts.Sent> sent) {
    if (object != CardObject.QP) {
      return NOT_KNOWN + "no command returns the context of a " + object;
    }
    HardwareProfile profile = card.profile().orElseThrow();
    if (!profile.queryQpReliable() && !profile.misplacesSequenceNumbers()) {
      return NOT_KNOWN
          + "QUERY_QP of profile %s answers nothing usable (docs/hardware.md)".formatted(profile);
    }
    if (profile != HardwareProfile.S && !card.pages().holds(IcmTable.QPC, number, profile)) {
      return NOT_KNOWN
          + "the page of its context is not mapped, and QUERY_QP would hang (docs/hardware.md)";
    }
    HcrRun.End end = new HcrRun(card).query(HcrCommand.QUERY_QP, number);
    if (!end.isOk()) {
      throw new RequestFailedException(
          "QUERY_QP of %d ended with status %s".formatted(number, end.describe()));
    }
    MemorySegment answer = MemorySegment.ofArray(end.outbox());
    return profile.queryQpReliable()
        ? MailboxText.of(object.layout(), answer)
        : new FirstRtlContext(answer, number, sent).fields();
  }

  private static Object driver(CardObject object, Optional<SentContexts.Sent> sent) {
    if (sent.isEmpty()) {
      return "nothing sent by this session";
    }
    HcrCommand command = sent.get().command();
    Fields fields = new Fields().put("command", command.name());
    MemorySegment inbox = MemorySegment.ofArray(sent.get().inbox());
    if (command == HcrCommand.RESIZE_CQ && inbox.byteSize() >= ResizeCq.LAYOUT.size()) {
      fields.putAll(MailboxText.of(ResizeCq.LAYOUT, inbox));
    } else if (inbox.byteSize() >= object.layout().size()) {
      fields.putAll(MailboxText.of(object.layout(), inbox));
    }
    return fields;
  }
}
