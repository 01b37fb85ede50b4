package org.hghca.driver.completion;

import org.hghca.abi.BthOpcode;
import org.hghca.abi.Cqe;
import org.hghca.driver.ring.SendRing;
import org.hghca.provider.Health;
import org.hghca.verbs.Completions;
import org.hghca.verbs.WcStatus;

/** Completions of a card that follows the document. */
public final class DocumentParser extends CompletionParser {
  public DocumentParser(
      String queue, CompletionRing ring, QpTable<QueuePairRings> queuePairs, Health health) {
    super(queue, ring, queuePairs, health);
  }

  @Override
  protected int completeSend(SendRing sends, int wqe, int bytes, Completions out, int count) {
    return sends.complete(out, count, 0, 0, bytes);
  }

  @Override
  protected int failSend(
      QueuePairRings qp, WcStatus status, int vendorError, Completions out, int count) {
    return qp.sends().complete(out, count, status.code(), vendorError, 0);
  }

  @Override
  protected int completeReceive(
      QueuePairRings qp,
      int last,
      int wqe,
      int bytes,
      int immediate,
      int sourceQp,
      Completions out,
      int count) {
    if (!qp.receiver().expects(wqe)) {
      return unexpected(qp, false, wqe, last);
    }
    int opcode = Cqe.opcode(last);
    int flags = BthOpcode.hasImmediate(opcode) ? Completions.WITH_IMM : 0;
    return succeed(qp, wqe, opcode, flags, bytes, immediate, sourceQp, out, count);
  }

  @Override
  public void close() {}
}
