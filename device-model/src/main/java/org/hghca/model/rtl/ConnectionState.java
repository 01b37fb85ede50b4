package org.hghca.model.rtl;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import org.hghca.abi.WqeOpcode;
import org.hghca.wire.Packet;

/** What the engine keeps of a queue pair beside its context. No MODIFY_QP clears any of it. */
final class ConnectionState {
  final OnChipQp qp;

  // The send side.

  /** Oldest first. */
  final Deque<Message> outstanding = new ArrayDeque<>();

  /** The PSN behind what was sent last; that of the context differs when a MODIFY_QP changed it. */
  int sentUpToPsn;

  /**
   * Whether the send side is in the middle of a message of it, and knows the next PSN by itself.
   */
  boolean sendsOn;

  /** Where the WQE of the READ stands that was finished last. */
  int finishedRead;

  /** The PSNs went back behind a message that was not acknowledged: no send completes any more. */
  boolean completesNothing;

  // The receive side.

  /** Whether a message is on its way in, and whether what is left of it goes nowhere. */
  boolean inMessage;

  boolean swallows;

  /** Bytes of it that have come. */
  long received;

  /** Of an RDMA WRITE: its target. */
  long writeAddress;

  int writeKey;

  /** Of a SEND: its receive WQE. */
  final ReceiveWqe taken = new ReceiveWqe();

  /** Linked receive WQEs, which the card has fetched ahead of need. */
  final Deque<ReceiveWqe> linked = new ArrayDeque<>();

  /**
   * The receive WQE that every message finds from now on, whatever is posted: one without data unit
   * has corrupted the list. {@code null} while the list is good.
   */
  ReceiveWqe stale;

  /** The receive WQE with data units that was taken last, if one was. */
  final ReceiveWqe last = new ReceiveWqe();

  boolean hasReceived;

  /** A message met an empty receive queue: the card's offset is beside every slot from then on. */
  boolean receivesAstray;

  ConnectionState(OnChipQp qp) {
    this.qp = qp;
  }

  /** Takes the PSNs of the next packets, from {@code psn} on. */
  void advance(int psn, int packets) {
    qp.nextSendPsn = psn + packets & OnChipQp.PSN_MASK;
    sentUpToPsn = qp.nextSendPsn;
  }

  /** Whether an RDMA READ is outstanding. */
  boolean hasReads() {
    return newest(true) != null;
  }

  /** The newest that is outstanding of the READs, or of all others; {@code null} for none. */
  Message newest(boolean read) {
    for (Iterator<Message> all = outstanding.descendingIterator(); all.hasNext(); ) {
      Message message = all.next();
      if (read == (message.opcode == WqeOpcode.RDMA_READ)) {
        return message;
      }
    }
    return null;
  }

  /** Addresses a packet to the peer. */
  Packet address(Packet packet) {
    packet.destinationMac = qp.destinationMac;
    packet.sourceMac = qp.sourceMac;
    packet.destinationIp = qp.destinationIp;
    packet.sourceIp = qp.sourceIp;
    packet.destinationQpn = qp.remoteQpn;
    packet.sourceQpn = qp.qpn;
    return packet;
  }
}
