package org.hghca.verbs;

import java.util.Objects;

/**
 * A second path of a connection: {@code alt_ah_attr}, {@code alt_pkey_index}, {@code alt_port_num}
 * and {@code alt_timeout}.
 *
 * @param vector the way to the peer, from a port of the device
 * @param pkeyIndex index into the P_Key table
 * @param timeout as {@link QpAttributes#timeout(int)}, on this path; 5 bits
 */
public record AlternatePath(AddressVector vector, int pkeyIndex, int timeout) {
  /** No path. */
  public static final AlternatePath NONE =
      new AlternatePath(new AddressVector(Gid.NONE, 0, 0, 0, 0, 0, 1), 0, 0);

  /** A path. */
  public AlternatePath {
    Objects.requireNonNull(vector);
    FieldRange.check("P_Key index", pkeyIndex, 16);
    FieldRange.check("timeout", timeout, 5);
  }
}
