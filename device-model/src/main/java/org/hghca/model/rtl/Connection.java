package org.hghca.model.rtl;

import java.util.ArrayDeque;
import java.util.Deque;
import org.hghca.model.link.Packet;

/** What the engine keeps of a queue pair beside its context. No MODIFY_QP clears any of it. */
final class Connection {
  final QueuePair qp;

  // The send side.

  /** Oldest first. */
  final Deque<Message> outstanding = new ArrayDeque<>();

  /** The PSN behind what was sent last; that of the context differs when a MODIFY_QP changed it. */
  int sentUpToPsn;

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

  /** Messages that have come in, 24 bits. */
  int messages;

  /** Linked receive WQEs, which the card has fetched ahead of need. */
  final Deque<ReceiveWqe> linked = new ArrayDeque<>();

  /** A message met an empty receive queue: the card's offset is beside every slot from then on. */
  boolean receivesAstray;

  Connection(QueuePair qp) {
    this.qp = qp;
  }

  /** Takes the PSNs of the next packets. */
  void advance(int packets) {
    qp.nextSendPsn = qp.nextSendPsn + packets & QueuePair.PSN_MASK;
    sentUpToPsn = qp.nextSendPsn;
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
