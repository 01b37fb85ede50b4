package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Bytes;
import org.hghca.virtio.abi.Field;

/** {@code virtio_rdma_cmd_add_gid}. */
public final class AddGid {
  /** Bytes of the structure. */
  public static final int SIZE = 24;

  /** Index in the GID table. */
  public static final Field INDEX = Field.le16("index", 0);

  /** The GID, in the order of the wire. */
  public static final Bytes GID = new Bytes("gid", 8, 16);

  private AddGid() {}
}
