package org.hghca.verbs;

import java.util.Objects;

/**
 * The path to a peer: {@code ibv_ah_attr} with its global route.
 *
 * @param destination the peer's GID; {@link Gid#NONE} when there is no global route
 * @param sourceGidIndex which of the port's own GIDs to send from
 * @param flowLabel 20 bits; 0 leaves it to the context's {@link Context#entropy()} for connections
 * @param hopLimit 8 bits
 * @param trafficClass 8 bits
 * @param serviceLevel 4 bits
 * @param port the local port, from 1
 */
public record AddressVector(
    Gid destination,
    int sourceGidIndex,
    int flowLabel,
    int hopLimit,
    int trafficClass,
    int serviceLevel,
    int port) {

  /** The default hop limit. */
  static final int DEFAULT_HOP_LIMIT = 64;

  public AddressVector {
    Objects.requireNonNull(destination);
    FieldRange.check("flow label", flowLabel, 20);
    FieldRange.check("hop limit", hopLimit, 8);
    FieldRange.check("traffic class", trafficClass, 8);
    FieldRange.check("service level", serviceLevel, 4);
    FieldRange.check("source GID index", sourceGidIndex, 8);
    FieldRange.check("port", port, 8);
  }

  /** A vector to a GID over port 1, from the local GID at an index, with a hop limit of 64. */
  public static AddressVector to(Gid destination, int sourceGidIndex) {
    return to(destination, sourceGidIndex, 1);
  }

  /** As {@link #to(Gid, int)}, over a port. */
  public static AddressVector to(Gid destination, int sourceGidIndex, int port) {
    return new AddressVector(destination, sourceGidIndex, 0, DEFAULT_HOP_LIMIT, 0, 0, port);
  }

  /** Whether the path has a global route, as every path over Ethernet must. */
  public boolean isGlobal() {
    return !destination.equals(Gid.NONE);
  }
}
