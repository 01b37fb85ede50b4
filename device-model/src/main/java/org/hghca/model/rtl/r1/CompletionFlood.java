package org.hghca.model.rtl.r1;

import java.util.Arrays;
import org.hghca.model.rtl.Hazards;
import org.hghca.model.rtl.Message;
import org.hghca.model.rtl.OnChipQp;

/**
 * What the acknowledgement of a SEND or WRITE with PSN FFFFFFh starts: the release of that request
 * does not end. The card writes CQEs of it over the ring of its completion queue, and gives no
 * other send CQE.
 *
 * <p>The release follows the links of the card's list of outstanding SENDs and WRITEs. Behind the
 * last one they lead to entries of earlier requests, and each CQE has the WQE offset of its entry.
 */
final class CompletionFlood {
  /** CQEs in a step: one every 7 cycles on the card. A simulation must not be busy with them. */
  static final int STEP = 8;

  /** Entries of the list. The real number is not known; requests use them in turn. */
  private static final int ENTRIES = 512;

  private final Hazards hazards;
  private final CqeWriter cqes;
  private final int[] offsets = new int[ENTRIES];
  private final int[] successors = new int[ENTRIES];
  private int nextEntry;

  /** Whose request is released endlessly; {@code null} for none. */
  private OnChipQp qp;

  private int qpn;
  private int opcode;
  private long length;
  private int entry;

  CompletionFlood(Hazards hazards, CqeWriter cqes) {
    this.hazards = hazards;
    this.cqes = cqes;
  }

  /**
   * A SEND or WRITE is entered into the list.
   *
   * @param before the one of its queue pair before it; {@code null} if none is outstanding
   */
  void enter(Message message, Message before) {
    message.entry = nextEntry;
    offsets[nextEntry] = message.wqeOffset;
    if (before != null) {
      successors[before.entry] = nextEntry;
    }
    nextEntry = (nextEntry + 1) % ENTRIES;
  }

  /** The first CQE of a request was written, and there is no end of them. */
  void begin(OnChipQp of, Message message) {
    hazards.strike(
        "12.21",
        "PSN ffffff of QP 0x%x is acknowledged: CQEs without end, and no others".formatted(of.qpn));
    qp = of;
    qpn = message.qpn;
    opcode = message.opcode;
    length = message.length;
    entry = message.entry;
    cqes.endSends();
  }

  boolean hasBegun() {
    return qp != null;
  }

  /** Writes the CQEs of a step. */
  void run() {
    for (int i = 0; i < STEP && qp != null; i++) {
      entry = successors[entry];
      cqes.repeat(qp, qpn, opcode, offsets[entry], length);
    }
  }

  void reset() {
    Arrays.fill(offsets, 0);
    Arrays.fill(successors, 0);
    nextEntry = 0;
    qp = null;
    cqes.reset();
  }
}
