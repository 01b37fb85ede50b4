package org.hghca.model.transport;

import org.hghca.wire.MemoryPieces;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketRun;

/**
 * Runs of the packets of reliable connections. Makes those to send, with headers as the packets
 * would have them and where their payload lies: a run is good until the next one is made. Places
 * the payload of those that have arrived.
 */
final class Runs {
  private final Schedule schedule;
  private final KeyedMemory memory;
  private final PacketRun run = new PacketRun();
  private final MemoryPieces target = new MemoryPieces();

  Runs(Schedule schedule, KeyedMemory memory) {
    this.schedule = schedule;
    this.memory = memory;
  }

  /** The most packets of a run within a budget, where a run counts as few long packets. */
  static int within(int budget, int mtu) {
    return budget * (Packet.MAX_PAYLOAD / mtu);
  }

  /** What packets of a run take of a budget: as many of the longest payload as they have bytes. */
  static int cost(int packets, int mtu) {
    int each = Packet.MAX_PAYLOAD / mtu;
    return (packets + each - 1) / each;
  }

  /**
   * Makes a run of the packets of a request from one to below another, at least two.
   *
   * @return null when the payload must be read packet by packet
   */
  PacketRun ofRequest(ConnectionContext qp, SendWork request, int from, int to) {
    long offset = (long) from * request.mtu;
    int bytes = (int) (Math.min((long) to * request.mtu, request.length()) - offset);
    begin(qp);
    if (!request.pieces.locate(
        memory, qp.pd, offset, MemoryAccess.LOCAL_READ, bytes, run.payload)) {
      return null;
    }
    boolean isLast = to == request.packets;
    Packet first = run.first;
    first.opcode = PacketOpcode.RC | request.operation.packetOperation(from == 0, false);
    first.psn = Psn.add(request.firstPsn, from);
    first.solicited = isLast && request.solicited;
    if (from == 0) {
      request.nameMemory(first);
    }
    run.lastOperation = request.operation.packetOperation(false, isLast);
    run.packets = to - from;
    run.mtu = request.mtu;
    run.bytes = bytes;
    return run;
  }

  /**
   * Makes a run of the next responses to a READ.
   *
   * @param packets their number, at least two
   * @return null when the payload must be read packet by packet
   */
  PacketRun ofResponse(ConnectionContext qp, OwedResponses owed, int packets) {
    int bytes = owed.length(packets * qp.mtu);
    begin(qp);
    if (!memory.locate(
        owed.key(), qp.pd, owed.address(), MemoryAccess.REMOTE_READ, bytes, run.payload)) {
      return null;
    }
    Packet first = run.first;
    first.opcode = PacketOpcode.RC | owed.operation();
    first.psn = owed.psn();
    run.lastOperation =
        packets == owed.packetsLeft()
            ? PacketOpcode.READ_RESPONSE_LAST
            : PacketOpcode.READ_RESPONSE_MIDDLE;
    run.packets = packets;
    run.mtu = qp.mtu;
    run.bytes = bytes;
    return run;
  }

  /** Begins a run with the addresses of the connection. */
  private void begin(ConnectionContext qp) {
    run.clear();
    PacketOutput.address(run.first, qp);
    run.sentAt = schedule.now();
  }

  /** Where the payload of a run that is being taken belongs; empty. */
  MemoryPieces target() {
    target.clear();
    return target;
  }

  /**
   * Copies the payload of a run that is being taken to {@link #target}.
   *
   * @return false when that is not possible, and some of it may have been copied
   */
  boolean copy(PacketRun taken) {
    try {
      taken.payload.copyTo(target);
      return true;
    } catch (IllegalStateException | InternalError e) {
      return false; // memory has gone: a packet will find which
    }
  }
}
