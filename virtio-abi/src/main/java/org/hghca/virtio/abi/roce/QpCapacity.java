package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Field;

/** {@code virtio_rdma_qp_cap}. */
public final class QpCapacity {
  /** Bytes of the structure. */
  public static final int SIZE = 24;

  /** Work requests of the send queue. */
  public static final Field MAX_SEND_WR = Field.le32("max_send_wr", 0);

  /** Work requests of the receive queue. */
  public static final Field MAX_RECV_WR = Field.le32("max_recv_wr", 4);

  /** Pieces of a send request. */
  public static final Field MAX_SEND_SGE = Field.le32("max_send_sge", 8);

  /** Pieces of a receive request. */
  public static final Field MAX_RECV_SGE = Field.le32("max_recv_sge", 12);

  /** Bytes of inline data, at most {@link SendRequest#INLINE_DATA}. */
  public static final Field MAX_INLINE_DATA = Field.le32("max_inline_data", 16);

  private QpCapacity() {}
}
