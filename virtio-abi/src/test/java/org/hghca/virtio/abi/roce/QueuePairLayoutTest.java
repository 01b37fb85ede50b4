package org.hghca.virtio.abi.roce;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.virtio.abi.Structure;
import org.junit.jupiter.api.Test;

/**
 * Commands of queue pairs, byte by byte. The value of each byte is its offset, and what belongs to
 * no field is eeh.
 */
class QueuePairLayoutTest {
  /** {@code virtio_rdma_qp_cap}. */
  @Test
  void capacity() {
    assertThat(QpCapacity.SIZE).isEqualTo(24);
    Structure structure = new Structure(24);
    structure.set(QpCapacity.MAX_SEND_WR, 0x0302_0100L);
    structure.set(QpCapacity.MAX_RECV_WR, 0x0706_0504L);
    structure.set(QpCapacity.MAX_SEND_SGE, 0x0b0a_0908L);
    structure.set(QpCapacity.MAX_RECV_SGE, 0x0f0e_0d0cL);
    structure.set(QpCapacity.MAX_INLINE_DATA, 0x1312_1110L);
    assertThat(structure.hex()).isEqualTo("000102030405060708090a0b0c0d0e0f10111213eeeeeeee");
  }

  /** {@code virtio_rdma_cmd_create_qp}. */
  @Test
  void creation() {
    assertThat(CreateQp.SIZE).isEqualTo(56);
    Structure structure = new Structure(56);
    structure.set(CreateQp.PDN, 0x0302_0100L);
    structure.set(CreateQp.QP_TYPE, 0x04L);
    structure.set(CreateQp.SQ_SIG_ALL, 0x05L);
    structure.set(CreateQp.SEND_CQN, 0x0b0a_0908L);
    structure.set(CreateQp.RECV_CQN, 0x0f0e_0d0cL);
    assertThat(CreateQp.CAPACITY).isEqualTo(16);
    assertThat(structure.hex())
        .isEqualTo(
            "000102030405eeee08090a0b0c0d0e0feeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
                + "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee");
  }

  /** {@code virtio_rdma_cmd_modify_qp}. */
  @Test
  void modification() {
    assertThat(ModifyQp.SIZE).isEqualTo(128);
    Structure structure = new Structure(128);
    structure.set(ModifyQp.QPN, 0x0302_0100L);
    structure.set(ModifyQp.ATTR_MASK, 0x0706_0504L);
    structure.set(ModifyQp.QP_STATE, 0x08L);
    structure.set(ModifyQp.CUR_QP_STATE, 0x09L);
    structure.set(ModifyQp.PATH_MTU, 0x0aL);
    structure.set(ModifyQp.MAX_RD_ATOMIC, 0x0bL);
    structure.set(ModifyQp.MAX_DEST_RD_ATOMIC, 0x0cL);
    structure.set(ModifyQp.MIN_RNR_TIMER, 0x0dL);
    structure.set(ModifyQp.TIMEOUT, 0x0eL);
    structure.set(ModifyQp.RETRY_CNT, 0x0fL);
    structure.set(ModifyQp.RNR_RETRY, 0x10L);
    structure.set(ModifyQp.QKEY, 0x1b1a_1918L);
    structure.set(ModifyQp.RQ_PSN, 0x1f1e_1d1cL);
    structure.set(ModifyQp.SQ_PSN, 0x2322_2120L);
    structure.set(ModifyQp.DEST_QPN, 0x2726_2524L);
    structure.set(ModifyQp.ACCESS_FLAGS, 0x2b2a_2928L);
    structure.set(ModifyQp.RATE_LIMIT, 0x2f2e_2d2cL);
    assertThat(ModifyQp.CAPACITY).isEqualTo(48);
    assertThat(ModifyQp.ADDRESS_VECTOR).isEqualTo(72);
    assertThat(structure.hex())
        .isEqualTo(
            "000102030405060708090a0b0c0d0e0f10eeeeeeeeeeeeee18191a1b1c1d1e1f"
                + "202122232425262728292a2b2c2d2e2feeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
                + "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
                + "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee");
  }

  /** {@code virtio_rdma_cmd_query_qp}. */
  @Test
  void query() {
    assertThat(QueryQp.SIZE).isEqualTo(8);
    Structure structure = new Structure(8);
    structure.set(QueryQp.QPN, 0x0302_0100L);
    structure.set(QueryQp.ATTR_MASK, 0x0706_0504L);
    assertThat(structure.hex()).isEqualTo("0001020304050607");
  }

  /** {@code virtio_rdma_ack_query_qp}. */
  @Test
  void attributes() {
    assertThat(QpAttributes.SIZE).isEqualTo(120);
    Structure structure = new Structure(120);
    structure.set(QpAttributes.QP_STATE, 0x00L);
    structure.set(QpAttributes.PATH_MTU, 0x01L);
    structure.set(QpAttributes.SQ_DRAINING, 0x02L);
    structure.set(QpAttributes.MAX_RD_ATOMIC, 0x03L);
    structure.set(QpAttributes.MAX_DEST_RD_ATOMIC, 0x04L);
    structure.set(QpAttributes.MIN_RNR_TIMER, 0x05L);
    structure.set(QpAttributes.TIMEOUT, 0x06L);
    structure.set(QpAttributes.RETRY_CNT, 0x07L);
    structure.set(QpAttributes.RNR_RETRY, 0x08L);
    structure.set(QpAttributes.QKEY, 0x1312_1110L);
    structure.set(QpAttributes.RQ_PSN, 0x1716_1514L);
    structure.set(QpAttributes.SQ_PSN, 0x1b1a_1918L);
    structure.set(QpAttributes.DEST_QPN, 0x1f1e_1d1cL);
    structure.set(QpAttributes.ACCESS_FLAGS, 0x2322_2120L);
    structure.set(QpAttributes.RATE_LIMIT, 0x2726_2524L);
    assertThat(QpAttributes.CAPACITY).isEqualTo(40);
    assertThat(QpAttributes.ADDRESS_VECTOR).isEqualTo(64);
    assertThat(structure.hex())
        .isEqualTo(
            "000102030405060708eeeeeeeeeeeeee101112131415161718191a1b1c1d1e1f"
                + "2021222324252627eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
                + "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
                + "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee");
  }
}
