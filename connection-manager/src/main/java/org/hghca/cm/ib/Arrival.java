package org.hghca.cm.ib;

import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Gid;

/**
 * Where a datagram came from.
 *
 * @param peer its source
 * @param own its destination
 * @param index of the destination in the table of this end's port
 * @param trafficClass 8 bits
 */
record Arrival(Gid peer, Gid own, int index, int trafficClass) {
  static final int PORT = 1;
  static final int HOP_LIMIT = 64;

  /** The way back. */
  AddressVector back() {
    return new AddressVector(peer, index, 0, HOP_LIMIT, trafficClass, 0, PORT);
  }
}
