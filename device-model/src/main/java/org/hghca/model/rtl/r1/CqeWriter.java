package org.hghca.model.rtl.r1;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.abi.Cqe;
import org.hghca.abi.QpcServiceType;
import org.hghca.model.rtl.Contexts;
import org.hghca.model.rtl.OnChipCq;
import org.hghca.model.rtl.OnChipQp;

/** Makes CQEs as the first RTL does: without immediates, without an owner. */
final class CqeWriter {
  private static final int KEY_MASK = 0x3fff;

  private final Contexts contexts;
  private final WriteChannel channel;
  private final MemorySegment entry = Arena.ofAuto().allocate(Cqe.SIZE, Cqe.SIZE);

  /** Whether sends get no CQE any more. */
  private boolean sendsEnded;

  CqeWriter(Contexts contexts, WriteChannel channel) {
    this.contexts = contexts;
    this.channel = channel;
  }

  /**
   * A send has succeeded. On RC the low 14 bits of the CQ's key are in place of the remote number.
   *
   * @param qpn as it was rung for, which the queue pair's own is a part of
   */
  void sent(OnChipQp qp, int qpn, int opcode, int wqeOffset, long length) {
    if (!sendsEnded) {
      repeat(qp, qpn, opcode, wqeOffset, length);
    }
  }

  /** As {@link #sent}, also when sends get no CQE any more. */
  void repeat(OnChipQp qp, int qpn, int opcode, int wqeOffset, long length) {
    OnChipCq queue = contexts.completionQueue(qp.sendCqn);
    int remote = qp.service == QpcServiceType.RC ? queue.key & KEY_MASK : qp.remoteQpn;
    Cqe.encodeSuccess(entry, 0, qpn, remote, lid(qp), 0, (int) length, wqeOffset, true, opcode, 0);
    channel.complete(queue, entry);
  }

  /** A send has failed; RC reports no reason, the others report it in the top byte. */
  void failed(OnChipQp qp, int qpn, int opcode, int wqeOffset, int syndrome) {
    if (sendsEnded) {
      return;
    }
    if (qp.service == QpcServiceType.RC) {
      Cqe.encodeError(entry, 0, qpn, wqeOffset, 0, 0, false, 0);
    } else {
      Cqe.encodeTopError(entry, 0, qpn, wqeOffset, opcode, syndrome);
    }
    channel.complete(contexts.completionQueue(qp.sendCqn), entry);
  }

  /**
   * A message has arrived.
   *
   * @param qpn as the peer addressed it
   * @param operation of its last packet
   */
  void received(OnChipQp qp, int qpn, int remoteQpn, int operation, int wqeOffset, long length) {
    Cqe.encodeSuccess(
        entry, 0, qpn, remoteQpn, lid(qp), 0, (int) length, wqeOffset, false, operation, 0);
    channel.complete(contexts.completionQueue(qp.receiveCqn), entry);
  }

  /** Writes something that is no CQE where the next one of a queue belongs. */
  void raw(int cqn, MemorySegment bytes, int length) {
    entry.fill((byte) 0);
    MemorySegment.copy(bytes, 0, entry, 0, Math.min(length, Cqe.SIZE));
    channel.complete(contexts.completionQueue(cqn), entry);
  }

  /** From now on no send gets a CQE, whichever queue it belongs to. */
  void endSends() {
    sendsEnded = true;
  }

  void reset() {
    sendsEnded = false;
  }

  private static int lid(OnChipQp qp) {
    return (int) qp.destinationMac & 0xffff;
  }
}
