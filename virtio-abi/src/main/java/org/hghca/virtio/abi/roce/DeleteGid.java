package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Field;

/** {@code virtio_rdma_cmd_del_gid}. */
public final class DeleteGid {
  /** Bytes of the structure. */
  public static final int SIZE = 2;

  /** Index in the GID table. */
  public static final Field INDEX = Field.le16("index", 0);

  private DeleteGid() {}
}
