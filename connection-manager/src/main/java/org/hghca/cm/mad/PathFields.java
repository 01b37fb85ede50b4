package org.hghca.cm.mad;

import org.hghca.verbs.Gid;

/**
 * A path in a REQ: 44 bytes, whose layout is the same for the primary and the alternate path.
 *
 * @param localLid 16 bits
 * @param remoteLid 16 bits
 * @param localGid of the sender
 * @param remoteGid of the receiver
 * @param flowLabel 20 bits
 * @param packetRate 6 bits; 0 is that of the port
 * @param trafficClass 8 bits
 * @param hopLimit 8 bits
 * @param serviceLevel 4 bits
 * @param subnetLocal whether both ends are in one subnet
 * @param ackTimeout the code of the local ACK timeout, 5 bits
 */
public record PathFields(
    int localLid,
    int remoteLid,
    Gid localGid,
    Gid remoteGid,
    int flowLabel,
    int packetRate,
    int trafficClass,
    int hopLimit,
    int serviceLevel,
    boolean subnetLocal,
    int ackTimeout) {

  static PathFields read(Body body, int at) {
    return new PathFields(
        body.u16(at),
        body.u16(at + 2),
        body.gid(at + 4),
        body.gid(at + 20),
        body.u24(at + 36) >>> 4,
        body.bits(at + 39, 5, 0),
        body.u8(at + 40),
        body.u8(at + 41),
        body.bits(at + 42, 7, 4),
        body.bit(at + 42, 3),
        body.bits(at + 43, 7, 3));
  }

  /** Whether these are fields of a path and not zeros: it leads somewhere. */
  boolean isPresent() {
    return !remoteGid.equals(Gid.NONE);
  }

  void write(Body body, int at) {
    body.u16(at, localLid);
    body.u16(at + 2, remoteLid);
    body.gid(at + 4, localGid);
    body.gid(at + 20, remoteGid);
    body.u24(at + 36, flowLabel << 4);
    body.bits(at + 39, 5, 0, packetRate);
    body.u8(at + 40, trafficClass);
    body.u8(at + 41, hopLimit);
    body.bits(at + 42, 7, 4, serviceLevel);
    body.bit(at + 42, 3, subnetLocal);
    body.bits(at + 43, 7, 3, ackTimeout);
  }
}
