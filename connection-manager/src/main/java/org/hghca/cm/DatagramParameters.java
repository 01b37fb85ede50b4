package org.hghca.cm;

import java.util.Objects;
import org.hghca.verbs.AddressVector;

/**
 * Where datagrams go: {@code rdma_ud_param}.
 *
 * @param vector for {@link org.hghca.verbs.ProtectionDomain#createAddressHandle}
 * @param qpNumber of the destination; {@link org.hghca.verbs.QueuePair#MULTICAST_NUMBER} for a
 *     group
 * @param qkey of the destination
 */
public record DatagramParameters(AddressVector vector, int qpNumber, int qkey) {
  /** The Q_Key of datagrams: {@code RDMA_UDP_QKEY}. */
  static final int UDP_QKEY = 0x0123_4567;

  /** A destination. */
  public DatagramParameters {
    Objects.requireNonNull(vector);
  }
}
