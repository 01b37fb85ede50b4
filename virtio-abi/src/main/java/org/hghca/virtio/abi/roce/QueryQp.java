package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Field;

/** {@code virtio_rdma_cmd_query_qp}. */
public final class QueryQp {
  /** Bytes of the structure. */
  public static final int SIZE = 8;

  /** Number of the queue pair. */
  public static final Field QPN = Field.le32("qpn", 0);

  /** Mask of {@link QpAttributeMask}. */
  public static final Field ATTR_MASK = Field.le32("attr_mask", 4);

  private QueryQp() {}
}
