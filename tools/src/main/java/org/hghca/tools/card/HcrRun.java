package org.hghca.tools.card;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Optional;
import org.hghca.abi.CommandStatus;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.tools.card.fields.Fields;
import org.hghca.tools.card.fields.Shown;
import org.hghca.tools.raw.CardStoppedException;
import org.hghca.tools.raw.CommandRecord;
import org.hghca.tools.raw.Hexdump;
import org.hghca.tools.raw.RawHcr;

/** Gives commands through the HCR. */
final class HcrRun {
  private final Card card;

  HcrRun(Card card) {
    this.card = card;
  }

  /** The end of a command. */
  record End(int status, long outParam, byte[] outbox, double micros) {
    boolean isOk() {
      return status == CommandStatus.OK.code();
    }

    String describe() {
      return CommandStatus.describe(status);
    }
  }

  /** Gives the command of a line, and reports its end. */
  void run(HcrLine line, Fields reply) {
    HcrCommand command = line.command();
    int opModifier = line.opModifierOrDefault();
    int inModifier = line.inModifierOrDefault();
    String name = command == null ? "opcode %03xh".formatted(line.opcode()) : command.name();
    line.checkInbox();
    card.hcr();
    byte[] inbox = line.inbox().orElse(new byte[0]);
    Optional<String> hangs =
        Hangs.line(
            card.profiles(),
            new Hangs.Request(command, opModifier, inModifier, inbox),
            card.history().pages());
    if (hangs.isPresent() && !line.unsafe()) {
      throw new RequestFailedException(
          "%s is not given to a card of profile %s: %s; --unsafe gives it"
              .formatted(name, names(), hangs.get()));
    }
    reply.put("opcode", name);
    reply.put("op_modifier", opModifier);
    reply.put("in_modifier", Shown.number(Integer.toUnsignedLong(inModifier)));
    long immediate = line.immediate().orElse(0);
    End end = give(line.opcode(), opModifier, inModifier, line.inbox().map(_ -> inbox), immediate);
    reply.put("status", end.status());
    reply.put(
        "status_name", CommandStatus.of(end.status()).map(CommandStatus::name).orElse("unknown"));
    reply.put("out_param", Shown.hex(end.outParam(), 16));
    reply.put("microseconds", end.micros());
    if (end.isOk() && end.outbox().length > 0) {
      reply.put("outbox", MailboxText.answer(command, end.outbox()));
    }
    if (!end.isOk()) {
      throw new RequestFailedException("%s ended with status %s".formatted(name, end.describe()));
    }
    if (command == HcrCommand.QUERY_DEV_LIM) {
      card.recognize(DeviceLimits.decode(MemorySegment.ofArray(end.outbox())));
      reply.put("profile", card.profileName());
    }
  }

  private String names() {
    return String.join(" or ", card.profiles().stream().map(Object::toString).toList());
  }

  /** Gives a command without an inbox. */
  End query(HcrCommand command, int inModifier) {
    return give(command.code(), 0, inModifier, Optional.empty(), 0);
  }

  private End give(
      int opcode, int opModifier, int inModifier, Optional<byte[]> inbox, long immediate) {
    RawHcr hcr = card.hcr();
    card.decodeMemory();
    card.function().configuration().busMaster(true);
    Mailboxes mailboxes = card.mailboxes();
    long in = inbox.isPresent() ? mailboxes.inbox(inbox.get()) : immediate;
    long out = mailboxes.outbox();
    int word;
    double micros = 0;
    try {
      word = hcr.give(Hcr.command(opcode, opModifier), in, inModifier, out, Hcr.POLL_TOKEN);
    } catch (CardStoppedException e) {
      mailboxes.abandon();
      throw e;
    } finally {
      for (CommandRecord each : card.function().commands()) {
        micros = each.micros();
      }
    }
    long outParam =
        (long) hcr.read(Hcr.OUT_PARAM_HIGH) << Integer.SIZE
            | Integer.toUnsignedLong(hcr.read(Hcr.OUT_PARAM_LOW));
    return new End(Hcr.status(word), outParam, outbox(opcode), micros);
  }

  /** As many bytes as the command answers; of an unknown one all that are not zero. */
  private byte[] outbox(int opcode) {
    byte[] page = card.mailboxes().written().toArray(ValueLayout.JAVA_BYTE);
    int size = HcrCommand.of(opcode).map(HcrCommand::outboxSize).orElse(-1);
    return size < 0 ? MailboxText.withoutZeros(page, Hexdump.COLUMNS) : Arrays.copyOf(page, size);
  }
}
