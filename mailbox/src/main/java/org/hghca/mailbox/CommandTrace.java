package org.hghca.mailbox;

import java.lang.foreign.MemorySegment;
import jdk.jfr.FlightRecorder;
import org.hghca.abi.Hcr;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.trace.DeviceTrace;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Traces each command: to the logger {@code org.hghca.mailbox.trace} at debug, to Flight Recorder
 * as {@code hghca.Command}, and to the trace of the device as a {@link CommandSpan}. Mailboxes are
 * decoded only if one of the first two is enabled.
 */
final class CommandTrace {
  private static final Logger LOG = LoggerFactory.getLogger("org.hghca.mailbox.trace");

  private final String device;

  /** Null if the device is not traced. */
  private final DeviceTrace trace;

  CommandTrace(PciFunction function) {
    this.device = function.locator().toString();
    this.trace = function.trace().orElse(null);
  }

  /** Starts to watch one command. */
  Watch begin() {
    return new Watch();
  }

  /** One command in progress. */
  final class Watch {
    /** Null if no recording was ever started: the first event of a process costs 100 ms. */
    private final CommandEvent event = FlightRecorder.isInitialized() ? new CommandEvent() : null;

    private final boolean logged = LOG.isDebugEnabled();
    private final long start = logged || trace != null ? System.nanoTime() : 0;

    private Watch() {
      if (event != null) {
        event.begin();
      }
    }

    /**
     * The command has ended.
     *
     * @param inParam as the card got it
     * @param status its code, or {@link CommandSpan#UNANSWERED}
     * @return whether the logger or the recorder is enabled, so that the end must be described
     */
    boolean ended(Command<?> command, long inParam, int status) {
      if (trace != null) {
        int word = Hcr.command(command.opcode().code(), command.opModifier());
        CommandSpan.record(trace, start, word, command.inModifier(), inParam, status);
      }
      if (event != null) {
        event.end();
      }
      return logged || isRecorded();
    }

    private boolean isRecorded() {
      return event != null && event.shouldCommit();
    }

    /**
     * Records how the command ended.
     *
     * @param inbox null when the command has none
     * @param outbox null when there is none, or the card did not write it
     * @param status the status, or the reason why there is none
     */
    void report(Command<?> command, MemorySegment inbox, MemorySegment outbox, String status) {
      long nanos = logged ? System.nanoTime() - start : 0;
      String in = inbox == null ? "" : command.inbox().describe().apply(inbox);
      String out = outbox == null ? "" : command.outbox().describe().apply(outbox);
      if (logged) {
        LOG.atDebug()
            .addKeyValue("device", device)
            .log(
                "{} in_param 0x{} in [{}] out [{}]: {} after {} us",
                command,
                Long.toHexString(command.immediate()),
                in,
                out,
                status,
                nanos / 1000);
      }
      if (isRecorded()) {
        event.device = device;
        event.command = command.opcode().name();
        event.opModifier = command.opModifier();
        event.inModifier = command.inModifier();
        event.immediate = command.immediate();
        event.inbox = in;
        event.outbox = out;
        event.status = status;
        event.commit();
      }
    }
  }
}
