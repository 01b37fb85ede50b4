package org.hghca.tools.replay;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Optional;
import org.hghca.abi.CommandStatus;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.MapIcm;
import org.hghca.tools.card.MailboxText;
import org.hghca.tools.card.fields.Fields;
import org.hghca.tools.raw.CardHistory;
import org.hghca.tools.raw.CardStoppedException;
import org.hghca.tools.raw.CommandRecord;
import org.hghca.tools.raw.RawHcr;
import org.hghca.tools.replay.ReplayedMemory.Place;

/**
 * Gives the recorded commands to the card, and compares how they end. The dwords of the HCR are
 * kept until go is stored; then the card gets all of them, with its own addresses. One thread at a
 * time.
 */
final class ReplayedHcr {
  private final ReplayedMemory memory;
  private final CardHistory history;
  private final int[] dwords = new int[Hcr.SIZE / Integer.BYTES];
  private long commands;
  private Given given;

  /**
   * A command that was given to this card, whose end in the trace is still to come.
   *
   * @param inbox of the recorded command
   * @param outbox where it is; empty when there is none
   * @param answer dword 18h of this card at the end
   * @param written what this card has written to the outbox
   * @param silence why there is no answer; empty when there is one
   */
  private record Given(
      String name,
      int word,
      int inModifier,
      long inParam,
      long outParam,
      byte[] inbox,
      Optional<Place> outbox,
      int answer,
      byte[] written,
      String silence) {

    boolean isAnswered() {
      return silence.isEmpty();
    }

    String status() {
      return isAnswered() ? ReplayedHcr.status(answer) : silence;
    }
  }

  ReplayedHcr(ReplayedMemory memory, CardHistory history) {
    this.memory = memory;
    this.history = history;
  }

  private static String status(int word) {
    return "status " + CommandStatus.describe(Hcr.status(word));
  }

  /** How many commands were given. */
  long commands() {
    return commands;
  }

  /**
   * A store to a dword of the HCR. One that sets go gives the command, and waits for its end.
   *
   * @return the command before, if only this card has ended it
   */
  Optional<Difference> store(int offset, int value, RawHcr hcr) {
    dwords[offset / Integer.BYTES] = value;
    if (offset != Hcr.COMMAND || !Hcr.go(value)) {
      return Optional.empty();
    }
    Optional<Difference> before = abandon();
    if (before.isEmpty()) {
      give(hcr);
    }
    return before;
  }

  private void give(RawHcr hcr) {
    int word = dword(Hcr.COMMAND);
    int inModifier = dword(Hcr.IN_MODIFIER);
    HcrCommand command = HcrCommand.of(Hcr.op(word)).orElse(null);
    long inParam = parameter(Hcr.IN_PARAM_HIGH);
    long outParam = parameter(Hcr.OUT_PARAM_HIGH);
    int size = CommandRecord.inboxSize(word, inModifier);
    byte[] inbox = size == 0 ? new byte[0] : inbox(command, inModifier, inParam, size);
    int answered = CommandRecord.outboxSize(word);
    Optional<Place> outbox = answered == 0 ? Optional.empty() : memory.at(outParam);
    outbox.ifPresent(place -> place.mapping().own(place.offset(), answered));
    commands++;
    int answer = 0;
    String silence = "";
    try {
      answer =
          hcr.give(
              word,
              size == 0 ? inParam : memory.translate(inParam),
              inModifier,
              answered == 0 && memory.at(outParam).isEmpty()
                  ? outParam
                  : memory.translate(outParam),
              Hcr.token(dword(Hcr.TOKEN)));
    } catch (CardStoppedException e) {
      silence = "no answer: " + e.getMessage();
    }
    given =
        new Given(
            name(command, word, inModifier),
            word,
            inModifier,
            inParam,
            outParam,
            inbox,
            outbox,
            answer,
            outbox.map(place -> bytes(place.mapping().memory(), place, answered)).orElse(inbox),
            silence);
  }

  private String name(HcrCommand command, int word, int inModifier) {
    String name = command == null ? "opcode %03xh".formatted(Hcr.op(word)) : command.name();
    return "command %d, %s with in_modifier 0x%x".formatted(commands, name, inModifier);
  }

  /** Writes the inbox with the addresses of this card; returns the recorded one. */
  private byte[] inbox(HcrCommand command, int entries, long inParam, int size) {
    Optional<Place> found = memory.at(inParam);
    if (found.isEmpty()) {
      return new byte[0];
    }
    Place place = found.get();
    byte[] recorded = bytes(place.mapping().image(), place, size);
    MemorySegment own = MemorySegment.ofArray(recorded.clone());
    BusAddresses.translate(command, entries, own, memory::translate);
    MemorySegment.copy(own, 0, place.mapping().memory(), place.offset(), size);
    if (command == HcrCommand.MAP_ICM) {
      for (IcmChunk chunk : MapIcm.decode(MemorySegment.ofArray(recorded), entries)) {
        own(chunk);
      }
    }
    return recorded;
  }

  /** Contexts belong to the card: until its reset it may write its tables back at any time. */
  private void own(IcmChunk chunk) {
    for (long page = 0; page < chunk.pages(); page++) {
      memory
          .at(chunk.pageAddress() + page * MapIcm.PAGE_SIZE)
          .ifPresent(place -> place.mapping().own(place.offset(), MapIcm.PAGE_SIZE));
    }
  }

  private static byte[] bytes(MemorySegment of, Place place, int size) {
    return of.asSlice(place.offset(), size).toArray(ValueLayout.JAVA_BYTE);
  }

  private int dword(int offset) {
    return dwords[offset / Integer.BYTES];
  }

  private long parameter(int offset) {
    return (long) dword(offset) << Integer.SIZE
        | Integer.toUnsignedLong(dword(offset + Integer.BYTES));
  }

  /**
   * The trace has read dword 18h.
   *
   * @param queues learn of a command that went well
   */
  Optional<Difference> loaded(int value, ReplayedQueues queues) {
    if (given == null || Hcr.go(value) && value != -1) {
      return Optional.empty();
    }
    if (value == -1) {
      return abandon();
    }
    Given ended = given;
    given = null;
    if (!ended.isAnswered() || Hcr.status(value) != Hcr.status(ended.answer)) {
      return Optional.of(new Difference(ended.name, status(value), ended.status()));
    }
    boolean accepted = Hcr.status(value) == CommandStatus.OK.code();
    byte[] answer =
        ended
            .outbox
            .map(place -> bytes(place.mapping().image(), place, ended.written.length))
            .orElse(new byte[0]);
    if (accepted && ended.outbox.isPresent() && !Arrays.equals(answer, ended.written)) {
      return Optional.of(
          Difference.of(
              ended.name + ", outbox",
              fields(ended.word, answer),
              fields(ended.word, ended.written),
              answer,
              ended.written));
    }
    release(ended);
    history.learn(
        new CommandRecord(
            ended.word,
            ended.inModifier,
            ended.inParam,
            ended.outParam,
            ended.inbox,
            answer,
            value,
            0,
            true));
    return accepted
        ? HcrCommand.of(Hcr.op(ended.word)).flatMap(c -> queues.learn(c, ended.inModifier))
        : Optional.empty();
  }

  private static Fields fields(int word, byte[] outbox) {
    return MailboxText.fields(HcrCommand.of(Hcr.op(word)).orElseThrow(), outbox);
  }

  private static void release(Given ended) {
    ended.outbox.ifPresent(place -> place.mapping().release(place.offset(), ended.written.length));
  }

  /** The recorded program has given the command up. */
  Optional<Difference> abandon() {
    Given ended = given;
    given = null;
    if (ended == null) {
      return Optional.empty();
    }
    release(ended);
    return ended.isAnswered()
        ? Optional.of(new Difference(ended.name, "no answer", ended.status()))
        : Optional.empty();
  }
}
