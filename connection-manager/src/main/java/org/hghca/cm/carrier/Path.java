package org.hghca.cm.carrier;

import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;

/**
 * A path between two ports, as {@code ibv_sa_path_rec}.
 *
 * @param source the GID of this end
 * @param sourceIndex its index in the table of this end's port
 * @param destination the GID of the other end
 * @param flowLabel 20 bits
 * @param trafficClass 8 bits
 * @param hopLimit 8 bits
 * @param serviceLevel 4 bits
 * @param port of this end's device, from 1
 * @param mtu the largest path MTU
 * @param packetLife the longest life of a packet is {@code 4.096 us << packetLife}; 5 bits
 */
public record Path(
    Gid source,
    int sourceIndex,
    Gid destination,
    int flowLabel,
    int trafficClass,
    int hopLimit,
    int serviceLevel,
    int port,
    Mtu mtu,
    int packetLife) {

  /** The way from this end to the other. */
  public AddressVector vector() {
    return new AddressVector(
        destination, sourceIndex, flowLabel, hopLimit, trafficClass, serviceLevel, port);
  }

  /**
   * The local ACK timeout over this path: somewhat more than twice the life of a packet, and the
   * time that the other end takes. It is how Linux derives it ({@code cm_ack_timeout}).
   *
   * @param ackDelay the code of the longest time in which the other end acknowledges; 5 bits
   * @return a code, 5 bits
   */
  public int ackTimeout(int ackDelay) {
    int roundTrip = packetLife + 1;
    int sum =
        roundTrip >= ackDelay
            ? roundTrip + (ackDelay >= roundTrip - 1 ? 1 : 0)
            : ackDelay + (roundTrip >= ackDelay - 1 ? 1 : 0);
    return Math.min(sum, 31);
  }
}
