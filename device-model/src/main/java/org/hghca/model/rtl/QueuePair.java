package org.hghca.model.rtl;

/**
 * What the RTL keeps of a queue pair on the chip: the key fields of its context, as the last
 * MODIFY_QP wrote them and traffic went on counting, and positions that nothing but a reset of the
 * card clears.
 */
final class QueuePair {
  final int qpn;

  /** Whether a MODIFY_QP has ever named it. */
  boolean programmed;

  /** QPC 08h[31:28] as a number, 0 to 6: 4 is SQD and 5 is SQE here. */
  int state;

  /** QPC 08h[23:16]: 0 RC, 1 UC, 2 RD, 3 UD. */
  int service;

  /** Bytes of a full packet, from the code at 0Ch[31:29]. */
  int mtu;

  int receiveStrideLog;
  int sendStrideLog;
  int localQpn;
  int remoteQpn;
  long sourceMac;
  long destinationMac;
  int sourceIp;
  int destinationIp;
  int pd;
  int nextSendPsn;
  int oldestUnackedPsn;
  int expectedPsn;
  int sendCqn;
  int sendKey;
  int sendLength;
  int receiveCqn;
  int receiveKey;
  int receiveLength;

  /** Byte offset of the next receive in its queue; survives every MODIFY_QP. */
  int receiveOffset;

  QueuePair(int qpn) {
    this.qpn = qpn;
  }
}
