package org.hghca.mailbox;

import org.hghca.abi.CommandStatus;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.vfio.trace.DeviceTrace;
import org.hghca.vfio.trace.TraceKind;
import org.hghca.vfio.trace.TraceRecord;
import org.hghca.vfio.trace.TraceText;

/** A command in the trace of a device, whoever gave it. */
public final class CommandSpan {
  /** In place of a status: the card did not answer. */
  public static final int UNANSWERED = -1;

  private static final TraceKind KIND = TraceKind.control("command", CommandSpan::text);

  private CommandSpan() {}

  /**
   * Records a command that has ended now, or was given up.
   *
   * @param begin when it was given, in the time of {@link System#nanoTime}
   * @param word dword 18h that started it
   * @param inParam dwords 00h and 04h
   * @param status 8 bits, or {@link #UNANSWERED}
   */
  public static void record(
      DeviceTrace trace, long begin, int word, int inModifier, long inParam, int status) {
    trace.span(KIND, begin, word, inModifier, inParam, status);
  }

  private static TraceText text(TraceRecord record) {
    int word = (int) record.first();
    int status = (int) record.fourth();
    int opcode = Hcr.op(word);
    return TraceText.of(
            "commands",
            HcrCommand.of(opcode).map(HcrCommand::name).orElse("opcode %03xh".formatted(opcode)))
        .with("op_modifier", Hcr.opModifier(word))
        .withHex("in_modifier", record.second() & 0xffff_ffffL)
        .withHex("in_param", record.third())
        .with("status", status == UNANSWERED ? "no answer" : CommandStatus.describe(status));
  }
}
