package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Field;

/** One piece of a request: {@code virtio_rdma_sge}. */
public final class ScatterGather {
  /** Bytes of the structure. */
  public static final int SIZE = 16;

  /** Address in the memory region. */
  public static final Field ADDRESS = Field.le64("addr", 0);

  /** Length in bytes. */
  public static final Field LENGTH = Field.le32("length", 8);

  /** Key of the region. */
  public static final Field LKEY = Field.le32("lkey", 12);

  private ScatterGather() {}
}
