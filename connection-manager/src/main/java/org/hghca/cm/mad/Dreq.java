package org.hghca.cm.mad;

import org.hghca.cm.carrier.PrivateData;

/**
 * Request for communication release.
 *
 * @param localId the communication ID of the sender
 * @param remoteId the communication ID of the receiver, 0 if the sender does not know it
 * @param remoteQpNumber of the queue pair of the receiver, 24 bits
 * @param privateData at most 220 bytes; all of them in a message that was read
 */
public record Dreq(int localId, int remoteId, int remoteQpNumber, PrivateData privateData)
    implements Message {
  static final int ATTRIBUTE = 0x15;

  static Dreq read(Body body) {
    return new Dreq(body.u32(0), body.u32(4), body.u24(8), body.rest(12));
  }

  @Override
  public int write(Body body) {
    body.u32(0, localId);
    body.u32(4, remoteId);
    body.u24(8, remoteQpNumber);
    body.rest(12, privateData);
    return ATTRIBUTE;
  }
}
