package org.hghca.cm.mad;

import org.hghca.cm.carrier.PrivateData;

/**
 * Message receipt acknowledgment: the answer takes longer.
 *
 * @param localId the communication ID of the sender
 * @param remoteId the communication ID of the receiver, 0 if the sender does not know it
 * @param message which message is acknowledged: 0 REQ, 1 REP, 2 LAP
 * @param serviceTimeout the code of the time until the answer, 5 bits
 * @param privateData at most 222 bytes; all of them in a message that was read
 */
public record Mra(
    int localId, int remoteId, int message, int serviceTimeout, PrivateData privateData)
    implements Message {
  static final int ATTRIBUTE = 0x11;

  static Mra read(Body body) {
    return new Mra(body.u32(0), body.u32(4), body.bits(8, 7, 6), body.bits(9, 7, 3), body.rest(10));
  }

  @Override
  public int write(Body body) {
    body.u32(0, localId);
    body.u32(4, remoteId);
    body.bits(8, 7, 6, message);
    body.bits(9, 7, 3, serviceTimeout);
    body.rest(10, privateData);
    return ATTRIBUTE;
  }
}
