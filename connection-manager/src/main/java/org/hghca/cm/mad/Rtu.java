package org.hghca.cm.mad;

import org.hghca.cm.carrier.PrivateData;

/**
 * Ready to use.
 *
 * @param localId the communication ID of the sender
 * @param remoteId the communication ID of the receiver, 0 if the sender does not know it
 * @param privateData at most 224 bytes; all of them in a message that was read
 */
public record Rtu(int localId, int remoteId, PrivateData privateData) implements Message {
  static final int ATTRIBUTE = 0x14;

  static Rtu read(Body body) {
    return new Rtu(body.u32(0), body.u32(4), body.rest(8));
  }

  @Override
  public int write(Body body) {
    body.u32(0, localId);
    body.u32(4, remoteId);
    body.rest(8, privateData);
    return ATTRIBUTE;
  }
}
