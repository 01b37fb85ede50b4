package org.hghca.driver.trace;

import org.hghca.abi.Eqe;
import org.hghca.abi.EventType;
import org.hghca.vfio.trace.DeviceTrace;
import org.hghca.vfio.trace.TraceKind;
import org.hghca.vfio.trace.TraceRecord;
import org.hghca.vfio.trace.TraceText;

/** An EQE in the trace of a card. */
public final class EventRecord {
  private static final TraceKind KIND = TraceKind.data("eqe", EventRecord::text);

  private EventRecord() {}

  /**
   * Records an entry.
   *
   * @param eqn of its queue
   * @param type {@link Eqe#TYPE_COMPLETION} or the code of an event type
   * @param data CQN, QPN or port
   */
  public static void record(DeviceTrace trace, int eqn, int type, int subtype, int data) {
    trace.record(KIND, eqn, type, subtype, data);
  }

  private static TraceText text(TraceRecord record) {
    int type = (int) record.second();
    String name =
        type == Eqe.TYPE_COMPLETION
            ? "COMPLETION"
            : EventType.of(type).map(EventType::name).orElse("type " + TraceText.hex(type));
    return TraceText.of("EQ " + TraceText.hex(record.first()), name)
        .withHex("eqn", record.first())
        .withHex("type", type)
        .withHex("subtype", record.third())
        .withHex("data", record.fourth() & 0xffff_ffffL);
  }
}
