package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Field;

/** {@code virtio_rdma_cmd_create_ah}. */
public final class CreateAh {
  /** Bytes of the structure. */
  public static final int SIZE = 48;

  /** Number of the PD. */
  public static final Field PDN = Field.le32("pdn", 0);

  /** Offset of the {@link AddressVector}. */
  public static final int ADDRESS_VECTOR = 8;

  private CreateAh() {}
}
