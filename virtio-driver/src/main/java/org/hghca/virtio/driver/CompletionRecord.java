package org.hghca.virtio.driver;

import java.lang.foreign.MemorySegment;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;
import org.hghca.vfio.direct.RingMemory;
import org.hghca.vfio.trace.DeviceTrace;
import org.hghca.vfio.trace.TraceKind;
import org.hghca.vfio.trace.TraceRecord;
import org.hghca.vfio.trace.TraceText;
import org.hghca.virtio.abi.roce.CompletionEntry;

/** A completion of RoCE in the trace of a device. */
final class CompletionRecord {
  private static final TraceKind KIND = TraceKind.data("cqe", CompletionRecord::text);

  /** In the number with the queue: the request is a receive. */
  private static final long RECEIVE = 1L << 32;

  private CompletionRecord() {}

  /**
   * Records an entry.
   *
   * @param cqn of its queue
   * @param wrId the program's number of the request
   * @param at the entry, in {@link RingMemory#guardedSegment}
   */
  static void record(DeviceTrace trace, int cqn, boolean isReceive, long wrId, long at) {
    MemorySegment from = RingMemory.guardedSegment();
    trace.record(
        KIND,
        cqn | (isReceive ? RECEIVE : 0),
        wrId,
        CompletionEntry.result(from, at),
        (long) CompletionEntry.QPN.get(from, at) << 32
            | CompletionEntry.BYTE_LENGTH.get(from, at) & 0xffff_ffffL);
  }

  private static TraceText text(TraceRecord record) {
    long result = record.third();
    boolean isReceive = (record.first() & RECEIVE) != 0;
    WcOpcode opcode =
        WcOpcode.of(CompletionCodes.opcode(CompletionEntry.opcode(result), isReceive));
    WcStatus status = WcStatus.of(CompletionCodes.status(CompletionEntry.status(result)));
    long qpn = record.fourth() >>> 32;
    String title = status == WcStatus.SUCCESS ? opcode.name() : status.name();
    return TraceText.of("QP " + TraceText.hex(qpn), "CQE " + title)
        .withHex("qpn", qpn)
        .withHex("cqn", record.first() & ~RECEIVE)
        .withHex("wr_id", record.second())
        .with("opcode", opcode.name())
        .with("status", status.name())
        .withHex("vendor_err", CompletionEntry.vendorError(result))
        .with("byte_len", record.fourth() & 0xffff_ffffL);
  }
}
