package org.hghca.model.rtl.r2;

import static org.hghca.wire.PacketOpcode.*;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.random.RandomGenerator;
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
  private final RandomGenerator random;
  private final MemorySegment entry = Arena.ofAuto().allocate(Cqe.SIZE, Cqe.SIZE);
  private long entries;

  CqeWriter(Contexts contexts, Translation translation, RandomGenerator random) {
    this.contexts = contexts;
    this.translation = translation;
    this.random = random;
  }

  void sent(OnChipQp qp, int opcode, int wqeOffset, long length) {
    encode(qp, qp.remoteQpn, length, wqeOffset, true, opcode);
    entry.set(ValueLayout.JAVA_BYTE, IS_SEND_OFFSET, (byte) (random.nextBoolean() ? 1 : 0x80));
    put(qp.sendCqn);
  }

  /** The offset of a receive WQE is in units of 16 bytes. */
  void received(OnChipQp qp, int remoteQpn, int operation, int wqeOffset, long length) {
    encode(qp, remoteQpn, length, wqeOffset >>> 4, false, operation(operation));
    put(qp.receiveCqn);
  }

  private int operation(int operation) {
    boolean only = random.nextBoolean();
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
    entry.set(ValueLayout.JAVA_BYTE, UNUSED_OFFSET, (byte) random.nextInt());
  }

  private void put(int cqn) {
    OnChipCq queue = contexts.completionQueue(cqn);
    translation.writeQueue(queue.key, queue.offset, entry, 0, Cqe.SIZE);
    queue.offset = queue.offset + Cqe.SIZE & (Cqe.SIZE << queue.logSize) - 1;
    entries++;
  }

  long entries() {
    return entries;
  }
}
