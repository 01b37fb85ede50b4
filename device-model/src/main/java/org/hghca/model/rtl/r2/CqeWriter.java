package org.hghca.model.rtl.r2;

import static org.hghca.wire.PacketOpcode.*;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.abi.Cqe;
import org.hghca.model.rtl.Contexts;
import org.hghca.model.rtl.OnChipCq;
import org.hghca.model.rtl.OnChipQp;
import org.hghca.model.rtl.Translation;

/**
 * Makes CQEs as the second RTL does, all of them successes. Unknown details vary from one to the
 * next: the value of is_send for sends, the unused byte, and whether a message of several packets
 * differs from one of a single packet.
 */
final class CqeWriter {
  private static final int IS_SEND_OFFSET = 0x1d;
  private static final int UNUSED_OFFSET = 0x1e;

  private final Contexts contexts;
  private final Translation translation;
  private final Unknowns unknowns;
  private final MemorySegment entry = Arena.ofAuto().allocate(Cqe.SIZE, Cqe.SIZE);
  private long entries;

  CqeWriter(Contexts contexts, Translation translation, Unknowns unknowns) {
    this.contexts = contexts;
    this.translation = translation;
    this.unknowns = unknowns;
  }

  void sent(OnChipQp qp, int opcode, int wqeOffset, long length) {
    OnChipCq queue = contexts.completionQueue(qp.sendCqn);
    int unknown = unknown(queue);
    encode(qp, qp.remoteQpn, length, wqeOffset, true, opcode);
    entry.set(ValueLayout.JAVA_BYTE, IS_SEND_OFFSET, (byte) ((unknown & 1) != 0 ? 1 : 0x80));
    put(queue, unknown);
  }

  /** The offset of a receive WQE is in units of 16 bytes. */
  void received(OnChipQp qp, int remoteQpn, int operation, int wqeOffset, long length) {
    OnChipCq queue = contexts.completionQueue(qp.receiveCqn);
    int unknown = unknown(queue);
    int opcode = operation(operation, (unknown & 1) != 0);
    encode(qp, remoteQpn, length, wqeOffset >>> 4, false, opcode);
    put(queue, unknown);
  }

  /** Of the next entry. */
  private int unknown(OnChipCq queue) {
    return unknowns.at(queue.cqn, queue.offset);
  }

  private static int operation(int operation, boolean only) {
    return switch (operation) {
      case SEND_LAST, SEND_ONLY -> only ? SEND_ONLY : SEND_LAST;
      case SEND_LAST_IMM, SEND_ONLY_IMM -> only ? SEND_ONLY_IMM : SEND_LAST_IMM;
      default -> only ? WRITE_ONLY_IMM : WRITE_LAST_IMM;
    };
  }

  private void encode(
      OnChipQp qp, int remoteQpn, long length, int wqeOffset, boolean send, int opcode) {
    int lid = (int) qp.destinationMac & 0xffff;
    Cqe.encodeSuccess(
        entry,
        0,
        qp.qpn,
        remoteQpn,
        lid,
        0,
        (int) length,
        wqeOffset,
        send,
        opcode,
        Cqe.OWNER_HARDWARE);
  }

  private void put(OnChipCq queue, int unknown) {
    entry.set(ValueLayout.JAVA_BYTE, UNUSED_OFFSET, (byte) (unknown >>> 8));
    translation.writeQueue(queue.key, queue.offset, entry, 0, Cqe.SIZE);
    queue.offset = queue.offset + Cqe.SIZE & (Cqe.SIZE << queue.logSize) - 1;
    entries++;
  }

  long entries() {
    return entries;
  }
}
