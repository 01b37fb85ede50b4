package org.hghca.cm.mad;

import org.hghca.cm.carrier.PrivateData;

/**
 * Reject.
 *
 * @param localId the communication ID of the sender
 * @param remoteId the communication ID of the receiver, 0 if the sender does not know it
 * @param message which message is rejected: 0 REQ, 1 REP, 2 no message
 * @param reason 16 bits
 * @param information additional rejection information (ARI), at most 72 bytes
 * @param privateData at most 148 bytes; all of them in a message that was read
 */
public record Rej(
    int localId,
    int remoteId,
    int message,
    int reason,
    PrivateData information,
    PrivateData privateData)
    implements Message {
  static final int ATTRIBUTE = 0x12;

  static Rej read(Body body) {
    return new Rej(
        body.u32(0),
        body.u32(4),
        body.bits(8, 7, 6),
        body.u16(10),
        body.data(12, body.bits(9, 7, 1)),
        body.rest(84));
  }

  @Override
  public int write(Body body) {
    body.u32(0, localId);
    body.u32(4, remoteId);
    body.bits(8, 7, 6, message);
    body.bits(9, 7, 1, information.length());
    body.u16(10, reason);
    body.data(12, Codec.INFORMATION, information);
    body.rest(84, privateData);
    return ATTRIBUTE;
  }
}
