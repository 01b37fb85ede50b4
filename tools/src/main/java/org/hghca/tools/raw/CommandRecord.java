package org.hghca.tools.raw;

import org.hghca.abi.CommandStatus;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.MapIcm;
import org.hghca.abi.WriteMtt;

/**
 * One command as it was given through the registers.
 *
 * @param word dword 18h that started it
 * @param inModifier dword 08h
 * @param inParam dwords 00h and 04h: an address, or the argument itself
 * @param outParam dwords 0Ch and 10h
 * @param inbox what was at in_param; empty when the command has none
 * @param outbox what was at out_param at the end; empty when the command has none
 * @param answer dword 18h when go was clear; 0 when that never came
 * @param nanos from the store that started it to the read that saw its end
 * @param ended whether it ended
 */
public record CommandRecord(
    int word,
    int inModifier,
    long inParam,
    long outParam,
    byte[] inbox,
    byte[] outbox,
    int answer,
    long nanos,
    boolean ended) {

  /**
   * Bytes of the inbox of a command; 0 when it has none, or its number of entries is impossible.
   *
   * @param word dword 18h
   */
  public static int inboxSize(int word, int entries) {
    return switch (HcrCommand.of(Hcr.op(word)).orElse(null)) {
      case null -> 0;
      case MAP_ICM -> entries < 1 || entries > MapIcm.MAX_ENTRIES ? 0 : MapIcm.size(entries);
      case WRITE_MTT -> entries < 1 || entries > WriteMtt.MAX_ENTRIES ? 0 : WriteMtt.size(entries);
      case HcrCommand command -> command.hasInbox(Hcr.opModifier(word)) ? command.inboxSize() : 0;
    };
  }

  /**
   * Bytes of the outbox of a command; 0 when it has none.
   *
   * @param word dword 18h
   */
  public static int outboxSize(int word) {
    return HcrCommand.of(Hcr.op(word)).map(HcrCommand::outboxSize).orElse(0);
  }

  /** The 12 bits of the opcode. */
  public int opcode() {
    return Hcr.op(word);
  }

  /** The 8 bits of the modifier. */
  public int opModifier() {
    return Hcr.opModifier(word);
  }

  /** The name in the table of commands, or the number. */
  public String name() {
    return HcrCommand.of(opcode()).map(HcrCommand::name).orElse("opcode %03xh".formatted(opcode()));
  }

  /** The status in words. */
  public String status() {
    return ended ? CommandStatus.describe(Hcr.status(answer)) : "no answer";
  }

  /** Microseconds that it took. */
  public double micros() {
    return nanos / 1000.0;
  }
}
