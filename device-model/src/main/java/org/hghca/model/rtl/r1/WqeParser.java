package org.hghca.model.rtl.r1;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.abi.DataUnit;
import org.hghca.abi.Doorbell;
import org.hghca.abi.InlineUnit;
import org.hghca.abi.MptFlags;
import org.hghca.abi.NextUnit;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.abi.UdUnit;
import org.hghca.abi.WqeOpcode;
import org.hghca.model.rtl.OnChipQp;
import org.hghca.model.rtl.SendWqe;
import org.hghca.model.rtl.SgeList;
import org.hghca.model.rtl.Stops;
import org.hghca.model.rtl.Translation;

/**
 * The parser of send WQEs, which all queue pairs share: if it waits for data that never arrives,
 * the send side of the card stops. Units of a WQE whose opcode it does not know stay in its FIFO,
 * and what it reads from then on is shifted by them.
 */
final class WqeParser {
  private static final int UNIT = 16;
  private static final int MAX_UNITS = 32;
  private static final int SIZE_LIMIT = 256;

  private final Translation translation;
  private final Stops stops;
  private final MemorySegment fifo = Arena.ofAuto().allocate(2L * UNIT * SIZE_LIMIT, 64);

  /**
   * Leading bytes that the previous WQE has consumed, and bytes after them that no WQE has
   * consumed.
   */
  private int taken;

  private int stale;

  WqeParser(Translation translation, Stops stops) {
    this.translation = translation;
    this.stops = stops;
  }

  void reset() {
    taken = 0;
    stale = 0;
  }

  /**
   * Fetches and parses a WQE.
   *
   * @param wqe in the form of a doorbell
   */
  SendWqe.Outcome parse(OnChipQp qp, long wqe, SendWqe into) {
    long offset = WqeScheduler.offset(wqe);
    int units = Doorbell.size16(wqe);
    into.clear();
    into.qpn = Doorbell.qpn(wqe);
    into.opcode = Doorbell.opcode(wqe);
    into.fence = Doorbell.fence(wqe) != 0;
    into.offset = (int) offset;
    int size = units * UNIT;
    if (!qp.programmed) {
      return stop("doorbell for QP 0x%x, which was never programmed".formatted(qp.qpn));
    }
    if (units == 0 || units > MAX_UNITS) {
      return stop("WQE of %d units".formatted(units));
    }
    if (offset + size > Integer.toUnsignedLong(qp.sendLength)) {
      return stop("WQE across the end of the send queue of QP 0x%x".formatted(qp.qpn));
    }
    if (translation.checkQueue(qp.sendKey, qp.pd, offset, size, 0) != Translation.OK) {
      return stop("12.3", "the send queue of QP 0x%x cannot be read".formatted(qp.qpn));
    }
    MemorySegment.copy(fifo, taken, fifo, 0, stale);
    translation.readQueue(qp.sendKey, offset, fifo, stale, size);
    taken = size;
    into.nextOpcode = NextUnit.nextOpcode(fifo, 0);
    into.nextOffset = NextUnit.nextHeadUnits16(fifo, 0) * UNIT;
    into.nextSize = NextUnit.nextSize16(fifo, 0);
    into.nextFence = NextUnit.nextFence(fifo, 0) != 0;
    into.immediate = NextUnit.immediate(fifo, 0);
    return parseUnits(qp, size, into);
  }

  private SendWqe.Outcome parseUnits(OnChipQp qp, int size, SendWqe into) {
    int at = UNIT;
    switch (into.opcode) {
      case WqeOpcode.SEND, WqeOpcode.SEND_IMM -> {
        if (qp.service == QpcServiceType.UD) {
          if (size < at + UdUnit.SIZE) {
            return stop("datagram without its address");
          }
          into.destinationMac = UdUnit.destinationMac(fifo, at);
          into.destinationIp = UdUnit.destinationIp(fifo, at);
          into.destinationQpn = UdUnit.destinationQpn(fifo, at);
          into.queueKey = UdUnit.qkey(fifo, at);
          at += UdUnit.SIZE;
        }
      }
      case WqeOpcode.RDMA_WRITE, WqeOpcode.RDMA_WRITE_IMM, WqeOpcode.RDMA_READ -> {
        if (size < at + RemoteAddressUnit.SIZE) {
          return stop("WQE without its remote address");
        }
        into.remoteAddress = RemoteAddressUnit.address(fifo, at);
        into.remoteKey = RemoteAddressUnit.rkey(fifo, at);
        at += RemoteAddressUnit.SIZE;
      }
      case WqeOpcode.NOP -> {
        if (qp.service == QpcServiceType.UD) {
          return stop("opcode 0");
        }
        stops.stopAll("12.7", "opcode 0 on QP 0x%x".formatted(qp.qpn));
        return SendWqe.Outcome.STOPPED;
      }
      case WqeOpcode.ATOMIC_CS, WqeOpcode.ATOMIC_FA -> {
        return stop("atomic");
      }
      default -> {
        stops.stray("opcode 0x%x on QP 0x%x".formatted(into.opcode, qp.qpn));
        taken = UNIT;
        stale = Math.min(stale + size - UNIT, UNIT * SIZE_LIMIT);
        return SendWqe.Outcome.DROPPED;
      }
    }
    return parseData(qp, at, size, into);
  }

  private SendWqe.Outcome parseData(OnChipQp qp, int start, int size, SendWqe into) {
    if (start < size && DataUnit.isInline(DataUnit.firstDword(fifo, start))) {
      int length = InlineUnit.length(fifo, start);
      if (length > size || start + UNIT * InlineUnit.units(length) != size) {
        return stop("%d bytes inline in a WQE of %d bytes".formatted(length, size));
      }
      into.inline(fifo, (long) start + InlineUnit.HEADER_SIZE, length);
      return SendWqe.Outcome.GOOD;
    }
    for (int at = start; at < size; at += UNIT) {
      if (DataUnit.isInline(DataUnit.firstDword(fifo, at))) {
        return stop("inline data after other data");
      }
      if (at > start && DataUnit.isTerminator(fifo, at)) {
        return stop("WQE of fewer units than its size says, %d bytes".formatted(size));
      }
      into.data.add(
          DataUnit.byteCount(fifo, at), DataUnit.lkey(fifo, at), DataUnit.address(fifo, at));
    }
    into.hasData = into.data.count() > 0;
    into.length = into.data.total();
    return check(qp, into);
  }

  private SendWqe.Outcome check(OnChipQp qp, SendWqe into) {
    int flags = into.opcode == WqeOpcode.RDMA_READ ? MptFlags.LOCAL_WRITE : 0;
    SgeList data = into.data;
    for (int i = 0; i < data.count(); i++) {
      int wrong = translation.check(data.key(i), qp.pd, data.address(i), data.length(i), flags);
      if (data.length(i) > 0 && wrong != Translation.OK) {
        if (i < data.count() - 1) {
          return SendWqe.Outcome.DENIED;
        }
        return stop(
            "12.3",
            "the last data unit of a WQE of QP 0x%x is not allowed: %d bytes at 0x%x by key 0x%x"
                .formatted(qp.qpn, data.length(i), data.address(i), data.key(i)));
      }
    }
    return SendWqe.Outcome.GOOD;
  }

  private SendWqe.Outcome stop(String why) {
    return stop("12.7", why);
  }

  private SendWqe.Outcome stop(String line, String why) {
    stops.stopSender(line, why);
    return SendWqe.Outcome.STOPPED;
  }
}
