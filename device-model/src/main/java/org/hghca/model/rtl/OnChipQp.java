package org.hghca.model.rtl;

import static org.hghca.abi.QueuePairContext.*;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.QpcState;
import org.hghca.wire.Packet;

/**
 * The on-chip state of a queue pair in the RTL: the key fields of its context, as the last
 * MODIFY_QP wrote them and traffic has advanced them, and positions that only a reset of the card
 * clears.
 */
public final class OnChipQp {
  public static final int PSN_MASK = 0xff_ffff;
  private static final int RNR_TIMER_MASK = 0x1f;

  public final int qpn;

  /** Whether a MODIFY_QP has ever named it. */
  public boolean programmed;

  /** QPC 08h[31:28] as a number, 0 to 6: 4 is SQD and 5 is SQE here. */
  public int state;

  /** QPC 08h[23:16]: 0 RC, 1 UC, 2 RD, 3 UD. */
  public int service;

  /** Bytes of a full packet, from the code at 0Ch[31:29]. */
  int mtu;

  /** Low 5 bits of rnr_retry, QPC 20h[31:24], which are in an RNR NAK. */
  public int rnrTimer;

  public int receiveStrideLog;
  public int sendStrideLog;
  int localQpn;
  public int remoteQpn;
  long sourceMac;
  public long destinationMac;
  int sourceIp;
  int destinationIp;
  public int pd;
  public int nextSendPsn;
  public int oldestUnackedPsn;
  public int expectedPsn;
  public int sendCqn;
  public int sendKey;
  public int sendLength;
  public int receiveCqn;
  public int receiveKey;
  public int receiveLength;

  /** Byte offset of the next receive in its queue; survives every MODIFY_QP. */
  public int receiveOffset;

  /** How often a MODIFY_QP has put it into RESET. */
  private int lives;

  /** Number of MODIFY_QPs to RESET or ERR, and the unacknowledged PSN at that time. */
  private int endings;

  private int oldestUnackedAtEnding;

  /** The values in the last MODIFY_QP of fields that traffic changes. */
  private int programmedState;

  private int programmedNextSendPsn;
  private int programmedOldestUnackedPsn;
  private int programmedExpectedPsn;

  OnChipQp(int qpn) {
    this.qpn = qpn;
  }

  /** MODIFY_QP: takes every key field from a mailbox, whatever was there before. */
  void program(MemorySegment mailbox) {
    programmed = true;
    int oldestUnackedBefore = oldestUnackedPsn;
    state = STATE.get(mailbox);
    service = SERVICE_TYPE.get(mailbox);
    mtu = 128 << MTU.get(mailbox);
    rnrTimer = RNR_RETRY.get(mailbox) & RNR_TIMER_MASK;
    receiveStrideLog = RQ_ENTRY_SIZE.get(mailbox);
    sendStrideLog = SQ_ENTRY_SIZE.get(mailbox);
    localQpn = LOCAL_QPN.get(mailbox);
    remoteQpn = REMOTE_QPN.get(mailbox) & PSN_MASK;
    sourceMac = mac(SMAC_HIGH.get(mailbox), SMAC_LOW.get(mailbox));
    destinationMac = mac(DMAC_HIGH.get(mailbox), DMAC_LOW.get(mailbox));
    sourceIp = SOURCE_IP.get(mailbox);
    destinationIp = DESTINATION_IP.get(mailbox);
    pd = PD.get(mailbox);
    nextSendPsn = NEXT_SEND_PSN.get(mailbox) & PSN_MASK;
    oldestUnackedPsn = LAST_ACKED_PSN.get(mailbox) & PSN_MASK;
    expectedPsn = NEXT_RECEIVE_PSN.get(mailbox) & PSN_MASK;
    sendCqn = SEND_CQN.get(mailbox);
    sendKey = SEND_WQE_LKEY.get(mailbox);
    sendLength = SEND_WQE_LENGTH.get(mailbox);
    receiveCqn = RECEIVE_CQN.get(mailbox);
    receiveKey = RECEIVE_WQE_LKEY.get(mailbox);
    receiveLength = RECEIVE_WQE_LENGTH.get(mailbox);
    lives += state == QpcState.RST ? 1 : 0;
    if (state == QpcState.RST || state == QpcState.ERR) {
      endings++;
      oldestUnackedAtEnding = oldestUnackedBefore;
    }
    programmedState = state;
    programmedNextSendPsn = nextSendPsn;
    programmedOldestUnackedPsn = oldestUnackedPsn;
    programmedExpectedPsn = expectedPsn;
  }

  private static long mac(int high, int low) {
    return Integer.toUnsignedLong(high) << 16 | low;
  }

  /** Number of MODIFY_QPs to RESET: WQEs fetched before belong to an earlier use. */
  public int lives() {
    return lives;
  }

  /** How often a MODIFY_QP has put it into RESET or ERR. */
  int endings() {
    return endings;
  }

  /** The oldest PSN that was not acknowledged when that happened last. */
  public int oldestUnackedAtEnding() {
    return oldestUnackedAtEnding;
  }

  /** Bytes of payload in a full packet. */
  public int packetSize() {
    return Math.min(mtu, Packet.MAX_PAYLOAD);
  }

  /** Packets of a message of {@code length} bytes, at least one. */
  public int packets(long length) {
    return (int) Math.max(1, (length + packetSize() - 1) / packetSize());
  }

  public void advanceExpectedPsn(int packets) {
    expectedPsn = expectedPsn + packets & PSN_MASK;
  }

  /** Whether traffic has changed anything since the last MODIFY_QP. */
  boolean hasMoved() {
    return state != programmedState || hasSent() || isAcknowledged() || hasReceived();
  }

  boolean hasSent() {
    return nextSendPsn != programmedNextSendPsn;
  }

  /** Whether something that it has sent was acknowledged, which only RC is. */
  boolean isAcknowledged() {
    return oldestUnackedPsn != programmedOldestUnackedPsn;
  }

  boolean hasReceived() {
    return expectedPsn != programmedExpectedPsn;
  }
}
