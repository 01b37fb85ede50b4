package org.hghca.model.rtl.r1;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.abi.DataUnit;
import org.hghca.abi.NextUnit;
import org.hghca.model.rtl.ConnectionState;
import org.hghca.model.rtl.Hazards;
import org.hghca.model.rtl.OnChipQp;
import org.hghca.model.rtl.ReceiveWqe;
import org.hghca.model.rtl.Translation;

/**
 * Takes receive WQEs from their queues. There is no doorbell: when the card needs one, it reads 512
 * bytes at its own offset and scans them up to 16 zero bytes, independent of the end of the slot.
 * Linked WQEs are fetched at once and kept.
 */
final class ReceiveQueues {
  private static final int UNIT = 16;
  private static final int FETCH_LOG = 9;
  private static final int FETCH = 1 << FETCH_LOG;
  private static final int LINK_SIZE_MASK = 0x1f;
  private static final int MAX_LINKS = 64;

  private final Translation translation;
  private final Hazards hazards;
  private final MemorySegment fetched = Arena.ofAuto().allocate(FETCH, 64);

  /** The first WQE that the card has fetched, if any. */
  private final ReceiveWqe first = new ReceiveWqe();

  private boolean hasFetched;

  /** The end of the scan over the units. */
  private int end;

  ReceiveQueues(Translation translation, Hazards hazards) {
    this.translation = translation;
    this.hazards = hazards;
  }

  /**
   * Takes the next receive WQE.
   *
   * @return false when there is none; the queue pair never finds one from then on
   */
  boolean take(ConnectionState connection) {
    OnChipQp qp = connection.qp;
    if (connection.stale != null) {
      hazards.strike(
          "12.13",
          "QP 0x%x receives into an old WQE: one without data unit was before it"
              .formatted(qp.qpn));
      connection.taken.copy(connection.stale);
      return true;
    }
    if (!connection.linked.isEmpty()) {
      takeLinked(connection);
      note(connection);
      return true;
    }
    if (!connection.receivesAstray && isBeyond(qp)) {
      hazards.strike(
          "6.6",
          "QP 0x%x continues at 0x%x of a receive queue that has 0x%x bytes"
              .formatted(qp.qpn, qp.receiveOffset, qp.receiveLength));
      connection.receivesAstray = true;
      return false;
    }
    if (connection.receivesAstray || !fetch(qp, qp.receiveOffset, FETCH) || !isPosted()) {
      hazards.strike(
          "12.5", "nothing is posted to QP 0x%x at 0x%x".formatted(qp.qpn, qp.receiveOffset));
      if (!connection.receivesAstray) {
        connection.receivesAstray = true;
        qp.receiveOffset += stride(qp) - UNIT;
      }
      return false;
    }
    int size = LINK_SIZE_MASK & NextUnit.nextSize16(fetched, 0);
    int link = NextUnit.nextHeadUnits16(fetched, 0) * UNIT;
    walk(qp, qp.receiveOffset, FETCH, connection.taken);
    qp.receiveOffset = slotBehind(qp, qp.receiveOffset + end);
    fetchLinked(connection, link, size);
    note(connection);
    return true;
  }

  /**
   * A WQE without data unit leaves the list of its queue pair at the previous WQE, or at the first
   * one that the card has stored, which may be itself.
   */
  private void note(ConnectionState connection) {
    boolean empty = connection.taken.data.count() == 0;
    if (!hasFetched) {
      hasFetched = true;
      first.copy(connection.taken);
    } else if (empty) {
      connection.stale = connection.hasReceived ? connection.last : first;
      connection.taken.offset = connection.stale.offset;
    }
    if (!empty) {
      connection.hasReceived = true;
      connection.last.copy(connection.taken);
    }
  }

  /** As after power-on. */
  void reset() {
    hasFetched = false;
  }

  /** Whether the position of an earlier use is outside: the card fetches the wrong bytes then. */
  private static boolean isBeyond(OnChipQp qp) {
    return qp.receiveOffset > 0 && qp.receiveOffset >= qp.receiveLength;
  }

  private void takeLinked(ConnectionState connection) {
    OnChipQp qp = connection.qp;
    connection.taken.copy(connection.linked.remove());
    if (connection.taken.life != qp.lives()) {
      hazards.strike(
          "12.8", "QP 0x%x receives into a linked WQE of an earlier use".formatted(qp.qpn));
    }
    int last = connection.taken.offset + UNIT * (connection.taken.data.count() + 2);
    qp.receiveOffset = slotBehind(qp, last);
  }

  private void fetchLinked(ConnectionState connection, int first, int firstSize) {
    OnChipQp qp = connection.qp;
    int at = first;
    int size = firstSize;
    for (int i = 0; size > 0 && i < MAX_LINKS && fetch(qp, at, size * UNIT) && isPosted(); i++) {
      ReceiveWqe wqe = new ReceiveWqe();
      int next = NextUnit.nextHeadUnits16(fetched, 0) * UNIT;
      int nextSize = LINK_SIZE_MASK & NextUnit.nextSize16(fetched, 0);
      walk(qp, at, size * UNIT, wqe);
      connection.linked.add(wqe);
      at = next;
      size = nextSize;
    }
  }

  /**
   * Reads a part of the queue in one or two pieces: what is beyond its end comes from its start.
   */
  private boolean fetch(OnChipQp qp, int offset, int length) {
    fetched.fill((byte) 0);
    int first = Math.max(0, Math.min(length, qp.receiveLength - offset));
    return read(qp, offset, 0, first) && read(qp, 0, first, length - first);
  }

  private boolean read(OnChipQp qp, int offset, int at, int length) {
    if (length == 0) {
      return true;
    }
    if (translation.checkQueue(qp.receiveKey, qp.pd, offset, length, 0) != Translation.OK) {
      return false;
    }
    translation.readQueue(qp.receiveKey, offset, fetched, at, length);
    return true;
  }

  private boolean isPosted() {
    return NextUnit.isPosted(fetched, 0);
  }

  private void walk(OnChipQp qp, int offset, int length, ReceiveWqe into) {
    into.offset = offset;
    into.life = qp.lives();
    into.data.clear();
    int at = UNIT;
    while (at < length && !DataUnit.isTerminator(fetched, at)) {
      into.data.add(
          DataUnit.byteCount(fetched, at),
          DataUnit.lkey(fetched, at),
          DataUnit.address(fetched, at));
      at += UNIT;
    }
    end = Math.min(at + UNIT, length);
  }

  private static int slotBehind(OnChipQp qp, int offset) {
    int stride = stride(qp);
    int next = (offset + stride - 1) / stride * stride;
    return qp.receiveLength > 0 ? next % qp.receiveLength : 0;
  }

  /** The card does not advance by more than it fetches at a time. */
  private static int stride(OnChipQp qp) {
    return 1 << Math.min(qp.receiveStrideLog, FETCH_LOG);
  }
}
