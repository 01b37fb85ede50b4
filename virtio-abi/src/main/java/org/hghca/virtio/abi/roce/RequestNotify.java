package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Field;

/** {@code virtio_rdma_cmd_req_notify}. */
public final class RequestNotify {
  /** Bytes of the structure. */
  public static final int SIZE = 8;

  /** Number of the CQ. */
  public static final Field CQN = Field.le32("cqn", 0);

  /** Mask of {@link #SOLICITED} and {@link #NEXT_COMPLETION}. */
  public static final Field FLAGS = Field.le32("flags", 4);

  /** Notify of the next solicited completion, or error. */
  public static final int SOLICITED = 1;

  /** Notify of the next completion. */
  public static final int NEXT_COMPLETION = 2;

  private RequestNotify() {}
}
