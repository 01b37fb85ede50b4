package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Field;

/** {@code virtio_rdma_ack_get_dma_mr} and {@code virtio_rdma_ack_reg_user_mr}. */
public final class MrKeys {
  /** Bytes of the structure. */
  public static final int SIZE = 12;

  /** Number of the region, for {@link RoceCommand#DEREG_MR}. */
  public static final Field MRN = Field.le32("mrn", 0);

  /** Key for requests of this side. */
  public static final Field LKEY = Field.le32("lkey", 4);

  /** Key for requests of the other side. */
  public static final Field RKEY = Field.le32("rkey", 8);

  private MrKeys() {}
}
