package org.hghca.mailbox;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import java.util.function.Function;
import org.hghca.abi.HcrCommand;

/**
 * One command before it is issued.
 *
 * @param immediate in_param of a command that has no inbox
 * @param inbox null when the command has none
 * @param outbox null when the command has none
 */
record Command<T>(
    HcrCommand opcode,
    int opModifier,
    int inModifier,
    long immediate,
    Inbox inbox,
    Outbox<T> outbox) {

  /** Fills an inbox, and describes it in the trace. */
  record Inbox(Consumer<MemorySegment> encode, Function<MemorySegment, String> describe) {}

  /** Reads an outbox, and describes it in the trace. */
  record Outbox<T>(Function<MemorySegment, T> decode, Function<MemorySegment, String> describe) {}

  /** A command without mailboxes. */
  static Command<Void> of(HcrCommand opcode, int opModifier, int inModifier) {
    return new Command<>(opcode, opModifier, inModifier, 0, null, null);
  }

  /** A command whose in_param is the argument itself. */
  static Command<Void> immediate(HcrCommand opcode, int opModifier, int inModifier, long argument) {
    return new Command<>(opcode, opModifier, inModifier, argument, null, null);
  }

  /** A command with an inbox. */
  static Command<Void> in(
      HcrCommand opcode,
      int opModifier,
      int inModifier,
      Consumer<MemorySegment> encode,
      Function<MemorySegment, String> describe) {
    return new Command<>(opcode, opModifier, inModifier, 0, new Inbox(encode, describe), null);
  }

  /** A command with an outbox. */
  static <T> Command<T> out(
      HcrCommand opcode,
      int opModifier,
      int inModifier,
      Function<MemorySegment, T> decode,
      Function<MemorySegment, String> describe) {
    return new Command<>(opcode, opModifier, inModifier, 0, null, new Outbox<>(decode, describe));
  }

  @Override
  public String toString() {
    return "%s (op_modifier %d, in_modifier 0x%x)".formatted(opcode, opModifier, inModifier);
  }
}
