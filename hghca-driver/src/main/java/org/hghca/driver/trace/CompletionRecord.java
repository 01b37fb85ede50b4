package org.hghca.driver.trace;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.BthOpcode;
import org.hghca.abi.Cqe;
import org.hghca.abi.Syndrome;
import org.hghca.abi.WqeOpcode;
import org.hghca.vfio.trace.DeviceTrace;
import org.hghca.vfio.trace.TraceKind;
import org.hghca.vfio.trace.TraceRecord;
import org.hghca.vfio.trace.TraceText;

/** A CQE in the trace of a card, as the card wrote it, whoever reads it. */
public final class CompletionRecord {
  private static final TraceKind KIND = TraceKind.data("cqe", CompletionRecord::text);

  private CompletionRecord() {}

  /**
   * Records an entry that is not free.
   *
   * @param cqn of its queue
   * @param index of the entry in its queue
   */
  public static void record(DeviceTrace trace, int cqn, int index, MemorySegment ring, long at) {
    trace.record(
        KIND,
        pair(cqn, index),
        pair(Cqe.qpn(ring, at), Cqe.wqeOffset(ring, at)),
        pair(Cqe.byteCount(ring, at), Cqe.plainLastDword(ring, at)),
        pair(Cqe.immediate(ring, at), Cqe.remoteQpn(ring, at)));
  }

  private static long pair(int high, int low) {
    return (long) high << 32 | low & 0xffff_ffffL;
  }

  private static int high(long pair) {
    return (int) (pair >>> 32);
  }

  private static TraceText text(TraceRecord record) {
    int last = (int) record.third();
    int opcode = Cqe.opcode(last);
    boolean send = Cqe.isSend(last);
    boolean failed = opcode == WqeOpcode.INVALID;
    String name = failed || send ? WqeOpcode.name(opcode) : received(opcode);
    TraceText text =
        TraceText.of("QP " + TraceText.hex(qpn(record)), "CQE " + (failed ? "error" : name))
            .withHex("qpn", qpn(record))
            .withHex("cqn", high(record.first()))
            .with("index", (int) record.first())
            .with("opcode", name)
            .with("is_send", send ? 1 : 0)
            .withHex("wqe", record.second() & 0xffff_ffffL)
            .with("status", failed ? "error" : "success");
    int cause = high(record.fourth());
    if (failed) {
      text.with("syndrome", syndrome(cause & 0xff)).withHex("vendor_err", cause >>> 8 & 0xff);
    } else {
      text.withHex("imm", cause & 0xffff_ffffL);
    }
    return text.with("byte_cnt", high(record.third()) & 0xffff_ffffL)
        .withHex("rqpn", record.fourth() & 0xffff_ffffL)
        .withHex("owner", Cqe.owner(last));
  }

  private static long qpn(TraceRecord record) {
    return record.second() >>> 32;
  }

  private static String syndrome(int code) {
    return "%s (%s)".formatted(Syndrome.of(code), TraceText.hex(code));
  }

  private static String received(int opcode) {
    String what = BthOpcode.isWriteImmediate(opcode) ? "RDMA_WRITE" : "SEND";
    return "received %s%s (%s)"
        .formatted(what, BthOpcode.hasImmediate(opcode) ? "_IMM" : "", TraceText.hex(opcode));
  }
}
