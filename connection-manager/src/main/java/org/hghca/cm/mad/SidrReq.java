package org.hghca.cm.mad;

import org.hghca.cm.carrier.PrivateData;

/**
 * Service ID resolution request: which UD queue pair serves a service ID.
 *
 * @param requestId the ID of the question
 * @param partitionKey 16 bits
 * @param serviceId 64 bits
 * @param privateData at most 216 bytes; all of them in a message that was read
 */
public record SidrReq(int requestId, int partitionKey, long serviceId, PrivateData privateData)
    implements Message {
  static final int ATTRIBUTE = 0x17;

  static SidrReq read(Body body) {
    return new SidrReq(body.u32(0), body.u16(4), body.u64(8), body.rest(16));
  }

  @Override
  public int write(Body body) {
    body.u32(0, requestId);
    body.u16(4, partitionKey);
    body.u64(8, serviceId);
    body.rest(16, privateData);
    return ATTRIBUTE;
  }
}
