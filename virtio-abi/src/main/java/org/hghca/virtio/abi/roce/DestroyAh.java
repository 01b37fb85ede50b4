package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Field;

/** {@code virtio_rdma_cmd_destroy_ah}. */
public final class DestroyAh {
  /** Bytes of the structure. */
  public static final int SIZE = 8;

  /** Number of the PD. */
  public static final Field PDN = Field.le32("pdn", 0);

  /** Number of the AH. */
  public static final Field AH = Field.le32("ah", 4);

  private DestroyAh() {}
}
