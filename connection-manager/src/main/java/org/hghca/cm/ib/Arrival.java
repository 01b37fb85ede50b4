package org.hghca.cm.ib;

import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Gid;

/**
 * Where a datagram came from.
 *
 * @param source of the datagram: the peer
 * @param destination of the datagram: a GID of this end
 * @param index of the destination in the table of this end's port
 * @param trafficClass 8 bits
 */
record Arrival(Gid source, Gid destination, int index, int trafficClass) {
  static final int PORT = 1;
  static final int HOP_LIMIT = 64;

  /** The way back. */
  AddressVector back() {
    return new AddressVector(source, index, 0, HOP_LIMIT, trafficClass, 0, PORT);
  }
}
