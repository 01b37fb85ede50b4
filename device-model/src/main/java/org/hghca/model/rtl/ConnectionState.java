package org.hghca.model.rtl;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import org.hghca.abi.WqeOpcode;
import org.hghca.wire.Packet;

/** The engine's state of a queue pair in addition to its context. No MODIFY_QP clears any of it. */
public final class ConnectionState {
  public final OnChipQp qp;

  // The send side.

  /** Oldest first. */
  public final Deque<Message> outstanding = new ArrayDeque<>();

  /** The PSN after the last one sent; the context's PSN differs if a MODIFY_QP changed it. */
  public int sentUpToPsn;

  /**
   * Whether the send side is in the middle of one of its messages, and tracks the next PSN itself.
   */
  public boolean sendsOn;

  /** The position of the WQE of the READ that finished last. */
  public int finishedRead;

  /** The PSNs were set back before an unacknowledged message: no send completes any more. */
  public boolean completesNothing;

  // The receive side.

  /** Whether a message is being received, and whether the rest of it is dropped. */
  public boolean inMessage;

  public boolean swallows;

  /** Bytes of it that have arrived. */
  public long received;

  /** Of an RDMA WRITE: its target. */
  public long writeAddress;

  public int writeKey;

  /** Of a SEND: its receive WQE. */
  public final ReceiveWqe taken = new ReceiveWqe();

  /** Linked receive WQEs that the card has prefetched. */
  public final Deque<ReceiveWqe> linked = new ArrayDeque<>();

  /**
   * The receive WQE that every message gets from now on, independent of the posted ones: one
   * without data unit has corrupted the list. {@code null} while the list is good.
   */
  public ReceiveWqe stale;

  /** The receive WQE with data units that was taken last, if one was. */
  public final ReceiveWqe last = new ReceiveWqe();

  public boolean hasReceived;

  /** A message found an empty receive queue: from then on the card's offset matches no slot. */
  public boolean receivesAstray;

  ConnectionState(OnChipQp qp) {
    this.qp = qp;
  }

  /** Takes the PSNs of the next packets, from {@code psn} on. */
  public void advance(int psn, int packets) {
    qp.nextSendPsn = psn + packets & OnChipQp.PSN_MASK;
    sentUpToPsn = qp.nextSendPsn;
  }

  /** Whether an RDMA READ is outstanding. */
  public boolean hasReads() {
    return newest(true) != null;
  }

  /**
   * The newest outstanding READ, or the newest other outstanding message; {@code null} for none.
   */
  public Message newest(boolean read) {
    for (Iterator<Message> all = outstanding.descendingIterator(); all.hasNext(); ) {
      Message message = all.next();
      if (read == (message.opcode == WqeOpcode.RDMA_READ)) {
        return message;
      }
    }
    return null;
  }

  /** Addresses a packet to the peer. */
  public Packet address(Packet packet) {
    packet.destinationMac = qp.destinationMac;
    packet.sourceMac = qp.sourceMac;
    packet.destinationIpv4(qp.destinationIp);
    packet.sourceIpv4(qp.sourceIp);
    packet.destinationQpn = qp.remoteQpn;
    packet.sourceQpn = qp.qpn;
    return packet;
  }
}
