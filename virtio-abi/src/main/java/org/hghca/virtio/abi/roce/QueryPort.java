package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Field;

/** Limits of the port: {@code virtio_rdma_ack_query_port}. */
public final class QueryPort {
  /** Bytes of the structure. */
  public static final int SIZE = 32;

  /** Entries of the GID table. */
  public static final Field GID_TBL_LEN = Field.le32("gid_tbl_len", 0);

  /** Largest message in bytes. */
  public static final Field MAX_MSG_SZ = Field.le32("max_msg_sz", 4);

  private QueryPort() {}
}
