package org.hghca.virtio.abi.roce;

import org.hghca.virtio.abi.Field;

/** Limits of the device: {@code virtio_rdma_ack_query_device}. */
public final class QueryDevice {
  /** Bytes of the structure. */
  public static final int SIZE = 128;

  /** Mask of {@link #RC_RNR_NAK_GEN}. */
  public static final Field DEVICE_CAP_FLAGS = Field.le64("device_cap_flags", 0);

  /** Largest memory region in bytes. */
  public static final Field MAX_MR_SIZE = Field.le64("max_mr_size", 8);

  /** Mask of page sizes in bytes. */
  public static final Field PAGE_SIZE_CAP = Field.le64("page_size_cap", 16);

  /** Version of the hardware. */
  public static final Field HW_VER = Field.le32("hw_ver", 24);

  /** Work requests of a queue. */
  public static final Field MAX_QP_WR = Field.le32("max_qp_wr", 28);

  /** Pieces of a send request. */
  public static final Field MAX_SEND_SGE = Field.le32("max_send_sge", 32);

  /** Pieces of a receive request. */
  public static final Field MAX_RECV_SGE = Field.le32("max_recv_sge", 36);

  /** Pieces of an RDMA READ. */
  public static final Field MAX_SGE_RD = Field.le32("max_sge_rd", 40);

  /** Entries of a CQ. */
  public static final Field MAX_CQE = Field.le32("max_cqe", 44);

  /** Memory regions of the device. */
  public static final Field MAX_MR = Field.le32("max_mr", 48);

  /** Protection domains of the device. */
  public static final Field MAX_PD = Field.le32("max_pd", 52);

  /** RDMA READs that a queue pair answers at once. */
  public static final Field MAX_QP_RD_ATOM = Field.le32("max_qp_rd_atom", 56);

  /** RDMA READs that a queue pair has outstanding. */
  public static final Field MAX_QP_INIT_RD_ATOM = Field.le32("max_qp_init_rd_atom", 60);

  /** Address handles of the device. */
  public static final Field MAX_AH = Field.le32("max_ah", 64);

  /** Exponent of the time to answer: 4.096 us times two to this power. */
  public static final Field LOCAL_CA_ACK_DELAY = Field.u8("local_ca_ack_delay", 68);

  /** Capability: the device sends receiver-not-ready NAKs on RC. */
  public static final int RC_RNR_NAK_GEN = 1;

  private QueryDevice() {}
}
