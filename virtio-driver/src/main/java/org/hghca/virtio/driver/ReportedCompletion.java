package org.hghca.virtio.driver;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.hghca.verbs.Completions;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.spi.ProviderAccess;
import org.hghca.vfio.direct.RingMemory;
import org.hghca.virtio.abi.roce.CompletionEntry;
import org.hghca.virtio.abi.roce.CompletionStatus;

/** What the program gets of a completion that the device has written. */
final class ReportedCompletion {
  private static final ValueLayout.OfInt IMMEDIATE =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private static final ProviderAccess ACCESS = ProviderAccess.get();

  private ReportedCompletion() {}

  /**
   * Fills a completion.
   *
   * @param peer number of the queue pair that it is connected to
   * @param result of the entry
   * @param at where the entry is
   */
  static void fill(
      Completions out,
      int index,
      QueuePair qp,
      int peer,
      boolean isReceive,
      long wrId,
      long result,
      long at) {
    MemorySegment from = RingMemory.guardedSegment();
    int flags = 0;
    int immediate = 0;
    if (isReceive && CompletionEntry.status(result) == CompletionStatus.SUCCESS) {
      int mask =
          qp.type() == QpType.UD ? Completions.GRH | Completions.WITH_IMM : Completions.WITH_IMM;
      flags = CompletionEntry.FLAGS.get(from, at) & mask;
      immediate = from.get(IMMEDIATE, at + CompletionEntry.IMMEDIATE.offset());
    }
    ACCESS.fill(
        out,
        index,
        wrId,
        CompletionCodes.status(CompletionEntry.status(result)),
        CompletionCodes.opcode(CompletionEntry.opcode(result), isReceive),
        CompletionEntry.vendorError(result),
        qp.number());
    ACCESS.fillMessage(
        out,
        index,
        CompletionEntry.BYTE_LENGTH.get(from, at),
        flags,
        immediate,
        isReceive ? source(qp, peer, from, at) : 0);
  }

  /** An entry names the sender of a datagram only. */
  private static int source(QueuePair qp, int peer, MemorySegment from, long at) {
    return qp.type() == QpType.UD ? CompletionEntry.SOURCE_QPN.get(from, at) : peer;
  }
}
