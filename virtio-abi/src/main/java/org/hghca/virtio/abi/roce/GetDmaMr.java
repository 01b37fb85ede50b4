package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Field;

/** {@code virtio_rdma_cmd_get_dma_mr}: a memory region of all bus addresses. */
public final class GetDmaMr {
  /** Bytes of the structure. */
  public static final int SIZE = 8;

  /** Number of the PD. */
  public static final Field PDN = Field.le32("pdn", 0);

  /** Mask of {@link MrAccess}. */
  public static final Field ACCESS_FLAGS = Field.le32("access_flags", 4);

  private GetDmaMr() {}
}
