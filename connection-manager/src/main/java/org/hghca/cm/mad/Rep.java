package org.hghca.cm.mad;

import org.hghca.cm.carrier.PrivateData;

/**
 * Reply to a request for communication.
 *
 * @param localId the communication ID of the sender
 * @param remoteId the communication ID of the receiver, 0 if the sender does not know it
 * @param qpNumber 24 bits
 * @param startingPsn from which the receiver of this message sends; 24 bits
 * @param responderResources 8 bits
 * @param initiatorDepth 8 bits
 * @param targetAckDelay 5 bits
 * @param failoverAccepted 2 bits
 * @param flowControl whether the sender gives credits
 * @param rnrRetry 3 bits
 * @param sharedReceiveQueue whether the queue pair has one
 * @param caGuid of the channel adapter of the sender
 * @param privateData at most 196 bytes; all of them in a message that was read
 */
public record Rep(
    int localId,
    int remoteId,
    int qpNumber,
    int startingPsn,
    int responderResources,
    int initiatorDepth,
    int targetAckDelay,
    int failoverAccepted,
    boolean flowControl,
    int rnrRetry,
    boolean sharedReceiveQueue,
    long caGuid,
    PrivateData privateData)
    implements Message {
  static final int ATTRIBUTE = 0x13;

  static Rep read(Body body) {
    return new Rep(
        body.u32(0),
        body.u32(4),
        body.u24(12),
        body.u24(20),
        body.u8(24),
        body.u8(25),
        body.bits(26, 7, 3),
        body.bits(26, 2, 1),
        body.bit(26, 0),
        body.bits(27, 7, 5),
        body.bit(27, 4),
        body.u64(28),
        body.rest(36));
  }

  @Override
  public int write(Body body) {
    body.u32(0, localId);
    body.u32(4, remoteId);
    body.u24(12, qpNumber);
    body.u24(20, startingPsn);
    body.u8(24, responderResources);
    body.u8(25, initiatorDepth);
    body.bits(26, 7, 3, targetAckDelay);
    body.bits(26, 2, 1, failoverAccepted);
    body.bit(26, 0, flowControl);
    body.bits(27, 7, 5, rnrRetry);
    body.bit(27, 4, sharedReceiveQueue);
    body.u64(28, caGuid);
    body.rest(36, privateData);
    return ATTRIBUTE;
  }
}
