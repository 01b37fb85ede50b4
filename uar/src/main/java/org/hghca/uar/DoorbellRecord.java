package org.hghca.uar;

import org.hghca.abi.Bar;
import org.hghca.abi.Doorbell;
import org.hghca.abi.WqeOpcode;
import org.hghca.vfio.trace.DeviceTrace;
import org.hghca.vfio.trace.TraceKind;
import org.hghca.vfio.trace.TraceRecord;
import org.hghca.vfio.trace.TraceText;

/** A doorbell in the trace of a device, whoever rang it. */
public final class DoorbellRecord {
  private static final TraceKind KIND = TraceKind.data("doorbell", DoorbellRecord::text);

  private DoorbellRecord() {}

  /**
   * Records a store to the UAR region that is about to be made.
   *
   * @param offset in the region
   */
  public static void record(DeviceTrace trace, long offset, long value) {
    trace.record(KIND, offset, value, 0, 0);
  }

  private static TraceText text(TraceRecord record) {
    long offset = record.first();
    long value = record.second();
    int low = (int) value;
    return switch ((int) (offset % Bar.UAR_PAGE_SIZE)) {
      case Doorbell.SEND_QUEUE ->
          TraceText.of(
                  "QP " + TraceText.hex(Doorbell.qpn(value)),
                  "doorbell " + WqeOpcode.name(Doorbell.opcode(value)))
              .withHex("qpn", Doorbell.qpn(value))
              .with("opcode", WqeOpcode.name(Doorbell.opcode(value)))
              .withHex("wqe", 16L * Doorbell.headUnits16(value))
              .with("wqe_bytes", 16 * Doorbell.size16(value))
              .with("fence", Doorbell.fence(value));
      case Doorbell.CQ_ARM ->
          TraceText.of("CQ " + TraceText.hex(Doorbell.armedCqn(low)), "arm")
              .withHex("cqn", Doorbell.armedCqn(low))
              .with("for", Doorbell.armsNext(low) ? "next" : "solicited");
      case Doorbell.EQ_ARM ->
          TraceText.of("EQ " + TraceText.hex(Doorbell.armedEqn(low)), "arm")
              .withHex("eqn", Doorbell.armedEqn(low))
              .with("consumer_index", Doorbell.consumerIndex(low));
      default -> TraceText.of("UAR", "store").withHex("offset", offset).withHex("value", value);
    };
  }
}
