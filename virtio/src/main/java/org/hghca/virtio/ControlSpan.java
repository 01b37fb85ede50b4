package org.hghca.virtio;

import org.hghca.vfio.trace.DeviceTrace;
import org.hghca.vfio.trace.TraceKind;
import org.hghca.vfio.trace.TraceRecord;
import org.hghca.vfio.trace.TraceText;
import org.hghca.virtio.abi.net.NetControl;

/** A command of the control queue in the trace of a device. */
final class ControlSpan {
  /** In place of a result: the device did not answer. */
  static final int UNANSWERED = -1;

  private static final TraceKind KIND = TraceKind.control("command", ControlSpan::text);

  private ControlSpan() {}

  /**
   * Records a command that has ended now, or was given up.
   *
   * @param begin when it was given, in the time of {@link System#nanoTime}
   * @param result 8 bits, or {@link #UNANSWERED}
   */
  static void record(DeviceTrace trace, long begin, int controlClass, int command, int result) {
    trace.span(KIND, begin, controlClass, command, result, 0);
  }

  private static TraceText text(TraceRecord record) {
    long controlClass = record.first();
    int command = (int) record.second();
    return TraceText.of("commands", "class %d command %d".formatted(controlClass, command))
        .with("class", controlClass)
        .with("command", command)
        .with("status", status((int) record.third()));
  }

  private static String status(int result) {
    return switch (result) {
      case NetControl.OK -> "OK";
      case NetControl.ERROR -> "ERROR";
      case UNANSWERED -> "no answer";
      default -> TraceText.hex(result);
    };
  }
}
