package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Field;

/**
 * The number of a CQ, PD, MR, queue pair or AH, as a command creates or destroys it: {@code
 * virtio_rdma_ack_create_cq}, {@code virtio_rdma_cmd_destroy_cq} and their like.
 */
public final class Handle {
  /** Bytes of the structure. */
  public static final int SIZE = 4;

  /** Number that the device has chosen. */
  public static final Field NUMBER = Field.le32("number", 0);

  private Handle() {}
}
