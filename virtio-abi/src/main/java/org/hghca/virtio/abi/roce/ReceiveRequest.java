package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Field;

/**
 * An element of a receive queue, which the device reads: {@code virtio_rdma_rq_req}. The pieces,
 * {@link ScatterGather}, follow.
 */
public final class ReceiveRequest {
  /** Bytes up to the first piece. */
  public static final int SIZE = 24;

  /** The driver's number of the request. */
  public static final Field WR_ID = Field.le64("wr_id", 0);

  /** Number of pieces. */
  public static final Field NUM_SGE = Field.le32("num_sge", 8);

  /** Offset of a piece. */
  public static int piece(int index) {
    return SIZE + ScatterGather.SIZE * index;
  }

  private ReceiveRequest() {}
}
