package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Field;

/** {@code virtio_rdma_cmd_create_cq}. */
public final class CreateCq {
  /** Bytes of the structure. */
  public static final int SIZE = 4;

  /** Entries. */
  public static final Field CQE = Field.le32("cqe", 0);

  private CreateCq() {}
}
