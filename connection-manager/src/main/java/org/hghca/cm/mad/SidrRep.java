package org.hghca.cm.mad;

import org.hghca.cm.carrier.PrivateData;

/**
 * Service ID resolution response.
 *
 * @param requestId the ID of the question
 * @param status 8 bits
 * @param qpNumber 24 bits
 * @param serviceId 64 bits
 * @param queueKey of the queue pair
 * @param information additional information, at most 72 bytes
 * @param privateData at most 136 bytes; all of them in a message that was read
 */
public record SidrRep(
    int requestId,
    int status,
    int qpNumber,
    long serviceId,
    int queueKey,
    PrivateData information,
    PrivateData privateData)
    implements Message {
  static final int ATTRIBUTE = 0x18;

  static SidrRep read(Body body) {
    return new SidrRep(
        body.u32(0),
        body.u8(4),
        body.u24(8),
        body.u64(12),
        body.u32(20),
        body.data(24, body.u8(5)),
        body.rest(96));
  }

  @Override
  public int write(Body body) {
    body.u32(0, requestId);
    body.u8(4, status);
    body.u8(5, information.length());
    body.u24(8, qpNumber);
    body.u64(12, serviceId);
    body.u32(20, queueKey);
    body.data(24, Codec.INFORMATION, information);
    body.rest(96, privateData);
    return ATTRIBUTE;
  }
}
