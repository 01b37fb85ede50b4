package org.hghca.cm.mad;

import org.hghca.cm.carrier.PrivateData;

/**
 * Alternate path response.
 *
 * @param localId the communication ID of the sender
 * @param remoteId the communication ID of the receiver, 0 if the sender does not know it
 * @param status 8 bits
 * @param information additional information, at most 72 bytes
 * @param privateData at most 148 bytes; all of them in a message that was read
 */
public record Apr(
    int localId, int remoteId, int status, PrivateData information, PrivateData privateData)
    implements Message {
  static final int ATTRIBUTE = 0x1a;

  static Apr read(Body body) {
    return new Apr(body.u32(0), body.u32(4), body.u8(9), body.data(12, body.u8(8)), body.rest(84));
  }

  @Override
  public int write(Body body) {
    body.u32(0, localId);
    body.u32(4, remoteId);
    body.u8(8, information.length());
    body.u8(9, status);
    body.data(12, Codec.INFORMATION, information);
    body.rest(84, privateData);
    return ATTRIBUTE;
  }
}
