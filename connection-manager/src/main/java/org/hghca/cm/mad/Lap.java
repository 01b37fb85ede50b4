package org.hghca.cm.mad;

import org.hghca.cm.carrier.PrivateData;
import org.hghca.verbs.Gid;

/**
 * Load alternate path.
 *
 * @param localId the communication ID of the sender
 * @param remoteId the communication ID of the receiver, 0 if the sender does not know it
 * @param remoteQpNumber of the queue pair of the receiver, 24 bits
 * @param remoteResponseTimeout 5 bits
 * @param localLid 16 bits
 * @param remoteLid 16 bits
 * @param localGid of the sender
 * @param remoteGid of the receiver
 * @param flowLabel 20 bits
 * @param trafficClass 8 bits
 * @param hopLimit 8 bits
 * @param packetRate 6 bits
 * @param serviceLevel 4 bits
 * @param subnetLocal whether the path leaves the subnet nowhere
 * @param ackTimeout 5 bits
 * @param privateData at most 168 bytes; all of them in a message that was read
 */
public record Lap(
    int localId,
    int remoteId,
    int remoteQpNumber,
    int remoteResponseTimeout,
    int localLid,
    int remoteLid,
    Gid localGid,
    Gid remoteGid,
    int flowLabel,
    int trafficClass,
    int hopLimit,
    int packetRate,
    int serviceLevel,
    boolean subnetLocal,
    int ackTimeout,
    PrivateData privateData)
    implements Message {
  static final int ATTRIBUTE = 0x19;

  static Lap read(Body body) {
    return new Lap(
        body.u32(0),
        body.u32(4),
        body.u24(12),
        body.bits(15, 7, 3),
        body.u16(20),
        body.u16(22),
        body.gid(24),
        body.gid(40),
        body.u24(56) >>> 4,
        body.u8(59),
        body.u8(60),
        body.bits(61, 5, 0),
        body.bits(62, 7, 4),
        body.bit(62, 3),
        body.bits(63, 7, 3),
        body.rest(64));
  }

  @Override
  public int write(Body body) {
    body.u32(0, localId);
    body.u32(4, remoteId);
    body.u24(12, remoteQpNumber);
    body.bits(15, 7, 3, remoteResponseTimeout);
    body.u16(20, localLid);
    body.u16(22, remoteLid);
    body.gid(24, localGid);
    body.gid(40, remoteGid);
    body.u24(56, flowLabel << 4);
    body.u8(59, trafficClass);
    body.u8(60, hopLimit);
    body.bits(61, 5, 0, packetRate);
    body.bits(62, 7, 4, serviceLevel);
    body.bit(62, 3, subnetLocal);
    body.bits(63, 7, 3, ackTimeout);
    body.rest(64, privateData);
    return ATTRIBUTE;
  }
}
