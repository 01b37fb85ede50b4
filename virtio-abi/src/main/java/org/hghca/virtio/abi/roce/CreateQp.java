package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Field;

/** {@code virtio_rdma_cmd_create_qp}. */
public final class CreateQp {
  /** Bytes of the structure. */
  public static final int SIZE = 56;

  /** Number of the PD. */
  public static final Field PDN = Field.le32("pdn", 0);

  /** {@link QpType}. */
  public static final Field QP_TYPE = Field.u8("qp_type", 4);

  /** 1: every send request completes visibly. */
  public static final Field SQ_SIG_ALL = Field.u8("sq_sig_all", 5);

  /** Number of the CQ for sends. */
  public static final Field SEND_CQN = Field.le32("send_cqn", 8);

  /** Number of the CQ for receives. */
  public static final Field RECV_CQN = Field.le32("recv_cqn", 12);

  /** Offset of the {@link QpCapacity}. */
  public static final int CAPACITY = 16;

  private CreateQp() {}
}
