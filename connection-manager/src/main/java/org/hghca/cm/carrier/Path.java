package org.hghca.cm.carrier;

import java.util.Objects;
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

  /** A path. */
  public Path {
    Objects.requireNonNull(source);
    Objects.requireNonNull(destination);
    Objects.requireNonNull(mtu);
  }

  /** The way from this end to the other. */
  public AddressVector vector() {
    return new AddressVector(
        destination, sourceIndex, flowLabel, hopLimit, trafficClass, serviceLevel, port);
  }
}
